// Vessels between two surfaces, seen from above: where flow is, how much of an area it takes, how strong it is; of a
// volume of angiography, whose voxels are 0 where nothing flows. Tails below vessels can be taken out before.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "engine/layers/slab.h"

namespace echolux {

struct VesselSpec {
    double above = 0.15;     // values that count as flow are greater: for decorrelations, near the edge of a vessel
    double window_um = 100;  // side of the square over which the density map counts
};

// Maps [b_scan][a_scan]; NaN where the slab does not exist or nothing was measured: a surface is missing, or the B-scan
// has no value at all.
struct VesselMaps {
    std::vector<float> vessels;  // 1: flow, 0: none
    std::vector<float> flux;     // mean value of what flows in the slab; 0: nothing does
    std::vector<float> density;  // % of the area around that flows
};

// Of all that was measured; NaN: of nothing.
struct VesselStats {
    double area_mm2 = 0;                                                // that was measured
    double measured_percent = 0;                                        // of the whole
    double density_percent = std::numeric_limits<double>::quiet_NaN();  // of the area: vessels
    double skeleton_mm = 0;                                             // length of the vessels' centre lines
    double skeleton_per_mm = density_percent;                           // the same for a unit of area: mm / mm^2
    double flux = density_percent;  // mean over vessels, in the volume's unit: relative, and saturates with speed
};

// Whether the voxels are values of angiography: dimensionless or relative, 0 for none.
bool is_angiogram(const VolumeGrid& grid);

// A voxel counts where nine of the 27 around it are above spec.above: a plane's worth, so that noise does not. Throws
// Error{bad_setting}: of a volume that is no angiogram, or without spacings.
VesselMaps vessel_maps(const Volume& flow, const Surfaces& surfaces, const SlabSpec& slab, const VesselSpec& spec);

VesselStats vessel_stats(const VesselMaps& maps, const VolumeGrid& grid);

// Two lines, the heading and the numbers, behind a line that says what they are.
std::string vessel_table(const VesselStats& stats, const std::string& slab);
bool is_own_vessel_table(const std::filesystem::path& path);

// Thins a map of ones and others to lines of one sample (T. Y. Zhang and C. Y. Suen, CACM 27(3), 1984), in fixed order.
std::vector<std::uint8_t> skeleton_of(const std::vector<float>& map, std::int64_t width, std::int64_t height);

// Length of its lines, steps to all eight neighbours counted by the spacings.
double skeleton_length(const std::vector<std::uint8_t>& skeleton, std::int64_t width, double dx, double dy);

// Sets voxels to 0 that decorrelate no more than what lies at least `gap_um` above them, by medians over 3 x 3 x 3
// voxels. Vessels below others go with the tails. Throws as vessel_maps() does.
void remove_tails(Volume& flow, double gap_um);

}  // namespace echolux
