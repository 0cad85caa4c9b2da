// A smooth function as cubic pieces of equal length, each through four of its values, for functions evaluated for every
// sample of every line: one look-up and three multiplications. The error is h^4/1944 times the fourth derivative for
// pieces of length h. The function stays continuous between pieces.
#pragma once

#include <cstdint>
#include <iterator>
#include <vector>

#include "compute/host_device.h"
#include "compute/plan/describe.h"

namespace echolux {

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
