#include "engine/analysis/tissue_surface.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "compute/counted.h"
#include "compute/error.h"
#include "compute/parallel_for.h"
#include "engine/analysis/axial_steps.h"
#include "engine/analysis/intensity.h"

namespace echolux {
namespace {

constexpr std::array<double, 3> speckle{1, 2, 2};  // sigma in voxels of the averaging before the search for steps
constexpr double noise_share = 0.1;                // share of voxels that are darker than the noise level
constexpr double bright_share = 0.99;
// Relative to the bright level; min noise level, for volumes without noise.
constexpr double min_of_bright = 0.002;
constexpr double standing_out = 0.5;      // min contrast of a surface relative to the strongest contrast
constexpr std::int64_t refined = 4;       // rows around the max contrast in which the strongest step is searched
constexpr std::int64_t median_reach = 3;  // A-scans and B-scans on either side
constexpr std::array<double, 3> lateral{0, 1, 1};
constexpr float none = std::numeric_limits<float>::quiet_NaN();

// Returns a quantile, estimated from at most about a million values.
float quantile(const std::vector<float>& values, double share) {
    constexpr std::size_t max = 1 << 20;
    std::vector<float> some;
    const std::size_t stride = std::max<std::size_t>(1, values.size() / max) | 1;
    for (std::size_t i = 0; i < values.size(); i += stride) some.push_back(values[i]);
    const auto place = some.begin() + std::lround(share * static_cast<double>(some.size() - 1));
    std::ranges::nth_element(some, place);
    return *place;
}

// Finds the first step of each A-scan that exceeds the noise.
class SurfaceFinder {
  public:
    SurfaceFinder(const std::vector<float>& averaged, const Size3& size)
        : averaged_(averaged), size_(size),
          floor_(std::max<double>(quantile(averaged, noise_share),
                                  min_of_bright * static_cast<double>(quantile(averaged, bright_share)))) {}

    // Returns the height of a step relative to the sum of both sides and the noise, from -1 to 1.
    double contrast(const AxialSteps& steps, std::int64_t z) const {
        return steps.height(z) / (steps.below(z) + steps.above(z) + floor_);
    }

    // Returns the surface row of each A-scan, or `none`.
    std::vector<float> rows() const {
        const double min = standing_out * strongest_contrast();
        std::vector<float> rows(static_cast<std::size_t>(size_[1] * size_[2]), none);
        if (min <= 0) return rows;
        parallel_for(0, std::ssize(rows), [&](std::int64_t line) {
            const AxialSteps steps = steps_of(line);
            for (std::int64_t z = steps.begin(); z < steps.end(); ++z) {
                if (contrast(steps, z) < min) continue;
                std::int64_t top = z;
                while (top + 1 < steps.end() && contrast(steps, top + 1) > contrast(steps, top)) ++top;
                const double row = steps.strongest(top - refined, top + refined + 1, 1);
                rows[static_cast<std::size_t>(line)] = static_cast<float>(row);
                return;
            }
        });
        return rows;
    }

  private:
    AxialSteps steps_of(std::int64_t line) const { return {averaged_.data() + line * size_[0], size_[0]}; }

    // Returns the median over A-scans of the strongest contrast.
    double strongest_contrast() const {
        std::vector<float> strongest(static_cast<std::size_t>(size_[1] * size_[2]));
        parallel_for(0, std::ssize(strongest), [&](std::int64_t line) {
            const AxialSteps steps = steps_of(line);
            double max = 0;
            for (std::int64_t z = steps.begin(); z < steps.end(); ++z) max = std::max(max, contrast(steps, z));
            strongest[static_cast<std::size_t>(line)] = static_cast<float>(max);
        });
        return static_cast<double>(quantile(strongest, 0.5));
    }

    const std::vector<float>& averaged_;
    const Size3& size_;
    double floor_;
};

// Returns the median of known neighbours, in a window that grows until it contains some.
float median_around(const std::vector<float>& rows, const Size3& size, std::int64_t a_scan, std::int64_t b_scan) {
    std::vector<float> near;
    for (std::int64_t reach = median_reach; near.empty(); reach *= 2) {
        for (std::int64_t b = std::max<std::int64_t>(0, b_scan - reach); b <= std::min(size[2] - 1, b_scan + reach);
             ++b) {
            for (std::int64_t a = std::max<std::int64_t>(0, a_scan - reach); a <= std::min(size[1] - 1, a_scan + reach);
                 ++a) {
                const float row = rows[static_cast<std::size_t>(b * size[1] + a)];
                if (!std::isnan(row)) near.push_back(row);
            }
        }
    }
    const auto middle = near.begin() + std::ssize(near) / 2;
    std::ranges::nth_element(near, middle);
    return *middle;
}

}  // namespace

std::vector<float> tissue_surface(const Volume& volume) {
    const Size3 size{volume.grid.depth, volume.grid.a_scans, volume.grid.b_scans};
    if (size[0] < 4 * AxialSteps::half_width) {
        throw Error(ErrorCode::bad_setting, fmt::format("no surface in {}", counted(size[0], "depth rows")),
                    "tissue surface", fmt::format("take {} or more", 4 * AxialSteps::half_width));
    }
    std::vector<float> averaged = linear_intensity(volume);
    smooth(averaged, size, speckle);
    const std::vector<float> rows = SurfaceFinder(averaged, size).rows();
    if (std::ranges::all_of(rows, [](float row) { return std::isnan(row); })) {
        throw Error(ErrorCode::bad_setting, "nothing stands out from the noise", "tissue surface",
                    "give a height map, or a constant depth");
    }
    std::vector<float> surface(rows.size());
    parallel_for(0, size[2], [&](std::int64_t b) {
        for (std::int64_t a = 0; a < size[1]; ++a) {
            surface[static_cast<std::size_t>(b * size[1] + a)] = median_around(rows, size, a, b);
        }
    });
    smooth(surface, {1, size[1], size[2]}, lateral);
    return surface;
}

}  // namespace echolux
