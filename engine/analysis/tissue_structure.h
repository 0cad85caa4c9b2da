// Structure of simulated and recorded tissue: its surface, a volume flattened to it, layers and vessels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/analysis/intensity.h"
#include "engine/io/volume_file.h"

namespace echolux {

// Steps of intensity along an A-scan, to locate boundaries. The step at z is the mean of the `half_width` rows from z
// on minus that of the rows before z; the edge is at z - 0.5.
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

// ---- The surface of tissue that extends from some depth to the end of the volume: the first axial step of averaged
// intensity, from the top, that exceeds the noise. A median over neighbouring A-scans makes it robust. The first step
// is used instead of the strongest one, because deeper tissue may be brighter, like the pigment epithelium in a retina.

// Returns [b_scan][a_scan] in depth rows, voxel centres at integers. Throws Error{bad_setting} for complex voxels, too
// few depth rows, or a volume without signal above the noise.
std::vector<float> tissue_surface(const Volume& volume);

// ---- Flattening of a volume: its A-scans are shifted in depth.

// Returns the row of the surface after flattening: its rounded mean.
double flat_row(const std::vector<float>& rows);

// Moves each A-scan up by rows[b_scan][a_scan] - flat_row(rows), interpolating linearly between rows; end voxels extend
// beyond the ends. Interpolates codes and rounds integers. Throws Error{bad_setting} for complex voxels.
void flatten(Volume& volume, const std::vector<float>& rows);

// ---- Layer boundaries of layered tissue, without priors except their number. The surface is the strongest step of
// averaged intensity. Relative to it, the mean profile shows the other boundaries, which are then followed over the
// volume. Steps are searched in intensity, where the axial point spread is symmetric and does not shift edges.

struct Layers {
    std::int64_t a_scans = 0;
    std::int64_t b_scans = 0;
    // From the top; each is [b_scan][a_scan] in depth rows, voxel centres at integers.
    std::vector<std::vector<float>> boundaries;

    const std::vector<float>& surface() const { return boundaries.front(); }
};

// Finds `count` boundaries. Throws Error{bad_setting} if fewer are distinguishable.
Layers find_layers(const Volume& volume, std::int64_t count);

// Returns intensities, shifted in depth so that `height` (in rows) is at row `row` of `rows`.
std::vector<float> flattened(const std::vector<float>& intensity, const Size3& size, const std::vector<float>& height,
                             std::int64_t row, std::int64_t rows);

// ---- Vessels below the surface, seen from above: they are brighter than other tissue at the same depth over the
// thickness of a lumen.

// Returns [b_scan][a_scan], 1 where a vessel is between `first_row` and `last_row` below `surface` (rows,
// [b_scan][a_scan]). Uses Otsu's threshold. Throws Error{bad_setting} for an empty range.
std::vector<std::uint8_t> find_vessels(const Volume& volume, const std::vector<float>& surface, std::int64_t first_row,
                                       std::int64_t last_row);

// Returns the Dice coefficient of two masks of the same size: 1 if equal.
double dice(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b);

}  // namespace echolux
