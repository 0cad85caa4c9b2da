// Cubic interpolation: a spline for tables, the weights of four samples, and tabulated functions.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "compute/host_device.h"

namespace echolux {

// ---- Natural cubic spline through points (x, y), in double precision. Used to build tables, not to process spectra.

// Owns copies of its knots.
class CubicSpline {
  public:
    // x must be strictly ascending and have at least two points.
    CubicSpline(std::span<const double> x, std::span<const double> y);

    double operator()(double x) const;  // extrapolates the end pieces

  private:
    std::vector<double> x_;
    std::vector<double> y_;
    std::vector<double> curvature_;  // second derivative at the knots
};

// ---- Weights of the cubic through four samples, for a point between the middle two (docs/algorithms.md 3.4). Used in
// double precision for tables, and in kernels that compute their own weights.

// Computes the weights of samples i - 1 .. i + 2 at position i + t.
template <class Real>
struct LagrangeCubic {
    ECHOLUX_HD void operator()(Real t, Real (&weights)[4]) const {
        const Real sixth = t * (t - 1) * (Real{1} / 6);
        weights[0] = sixth * (2 - t);
        weights[3] = sixth * (t + 1);
        weights[2] = t - 2 * weights[3] + weights[0];
        weights[1] = 1 - t - 2 * weights[0] + weights[3];
    }
};

// ---- A smooth function as cubic pieces of equal length, each through four of its values, for functions evaluated for
// every sample of every line: one look-up and three multiplications. The error is h^4/1944 times the fourth derivative
// for pieces of length h. The function stays continuous between pieces.

// Non-owning view of the pieces in host or GPU memory.
template <class Value>
struct CubicPiecesView {
    const Value* coefficients = nullptr;  // [pieces][4]
    std::int64_t pieces = 0;
    double begin = 0;
    double pieces_per_unit = 0;

    // Evaluates the function. Beyond the ends, the end pieces are extrapolated.
    ECHOLUX_HD_CALLER
    ECHOLUX_HD Value operator()(double x) const {
        const double place = (x - begin) * pieces_per_unit;
        const auto whole = static_cast<std::int64_t>(place);
        const std::int64_t i = whole < 0 ? 0 : whole < pieces ? whole : pieces - 1;
        const auto t = static_cast<float>(place - static_cast<double>(i));
        const Value* c = coefficients + 4 * i;
        return c[0] + t * (c[1] + t * (c[2] + t * c[3]));
    }
};

// Owns the pieces.
template <class Value>
class CubicPieces {
  public:
    CubicPieces() = default;

    // Samples the function `value_at(double)` between `begin` and `end`.
    template <class Function>
    CubicPieces(double begin, double end, std::int64_t pieces, const Function& value_at)
        : begin_(begin), pieces_per_unit_(static_cast<double>(pieces) / (end - begin)) {
        const auto at = [&](std::int64_t third) {
            return value_at(begin + (end - begin) * static_cast<double>(third) / static_cast<double>(3 * pieces));
        };
        for (std::int64_t i = 0; i < pieces; ++i) {
            const auto a = at(3 * i), b = at(3 * i + 1), c = at(3 * i + 2), d = at(3 * i + 3);
            coefficients_.insert(coefficients_.end(), {Value(a), Value(-5.5 * a + 9.0 * b - 4.5 * c + d),
                                                       Value(9.0 * a - 22.5 * b + 18.0 * c - 4.5 * d),
                                                       Value(4.5 * (3.0 * (b - c) - a + d))});
        }
    }

    CubicPiecesView<Value> view() const {
        return {coefficients_.data(), std::ssize(coefficients_) / 4, begin_, pieces_per_unit_};
    }
    const std::vector<Value>& coefficients() const { return coefficients_; }  // [pieces][4]

    Value operator()(double x) const { return view()(x); }

  private:
    double begin_ = 0;
    double pieces_per_unit_ = 0;
    std::vector<Value> coefficients_;
};

}  // namespace echolux
