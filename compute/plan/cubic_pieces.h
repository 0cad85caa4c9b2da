// A smooth function as cubic pieces of equal length, each through four of its values: what is evaluated for every
// sample of every line costs one look-up and three multiplications. The error is h^4/1944 of the fourth derivative for
// pieces of length h, and there is no jump between pieces.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace echolux {

template <class Value>
class CubicPieces {
  public:
    CubicPieces() = default;

    // `value_at(double)` gives the function between `begin` and `end`.
    template <class Function>
    CubicPieces(double begin, double end, std::int64_t pieces, const Function& value_at)
        : begin_(begin), pieces_per_unit_(static_cast<double>(pieces) / (end - begin)) {
        const auto at = [&](std::int64_t third) {
            return value_at(begin + (end - begin) * static_cast<double>(third) / static_cast<double>(3 * pieces));
        };
        for (std::int64_t i = 0; i < pieces; ++i) {
            const auto a = at(3 * i), b = at(3 * i + 1), c = at(3 * i + 2), d = at(3 * i + 3);
            pieces_.push_back({Value(a), Value(-5.5 * a + 9.0 * b - 4.5 * c + d),
                               Value(9.0 * a - 22.5 * b + 18.0 * c - 4.5 * d), Value(4.5 * (3.0 * (b - c) - a + d))});
        }
    }

    // Beyond the ends the last piece goes on.
    Value operator()(double x) const {
        const double place = (x - begin_) * pieces_per_unit_;
        const auto last = static_cast<std::int64_t>(pieces_.size()) - 1;
        const std::int64_t i = std::clamp(static_cast<std::int64_t>(place), std::int64_t{0}, last);
        const auto t = static_cast<float>(place - static_cast<double>(i));
        const std::array<Value, 4>& c = pieces_[static_cast<std::size_t>(i)];
        return c[0] + t * (c[1] + t * (c[2] + t * c[3]));
    }

  private:
    double begin_ = 0;
    double pieces_per_unit_ = 0;
    std::vector<std::array<Value, 4>> pieces_;
};

}  // namespace echolux
