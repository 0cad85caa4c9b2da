// Steps of intensity along an A-scan, to locate boundaries.
#pragma once

#include <algorithm>
#include <cstdint>

namespace echolux {

// The step at z is the mean of the `half_width` rows from z on minus that of the rows before z; the edge is at z - 0.5.
class AxialSteps {
  public:
    static constexpr std::int64_t half_width = 4;  // rows on either side of a step

    AxialSteps(const float* profile, std::int64_t rows) : profile_(profile), rows_(rows) {}

    // Valid range of z: [begin(), end()).
    std::int64_t begin() const { return half_width; }
    std::int64_t end() const { return rows_ - half_width + 1; }

    double below(std::int64_t z) const { return mean(z); }
    double above(std::int64_t z) const { return mean(z - half_width); }
    double height(std::int64_t z) const { return below(z) - above(z); }

    // Returns the row of the largest sign * height in [first, last), interpolated by a parabola.
    double strongest(std::int64_t first, std::int64_t last, double sign) const {
        first = std::max(first, begin() + 1);
        last = std::min(last, end() - 1);
        std::int64_t best = first;
        for (std::int64_t z = first; z < last; ++z) {
            if (sign * height(z) > sign * height(best)) best = z;
        }
        const double left = sign * height(best - 1), peak = sign * height(best), right = sign * height(best + 1);
        const double curvature = left - 2 * peak + right;
        const double shift = curvature < 0 ? std::clamp((left - right) / (2 * curvature), -0.5, 0.5) : 0.0;
        return static_cast<double>(best) + shift - 0.5;
    }

  private:
    double mean(std::int64_t z) const {
        double sum = 0;
        for (std::int64_t i = z; i < z + half_width; ++i) sum += static_cast<double>(profile_[i]);
        return sum / half_width;
    }

    const float* profile_;
    std::int64_t rows_;
};

}  // namespace echolux
