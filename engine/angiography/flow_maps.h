// En-face maps and statistics of vessels in a slab between two surfaces, from a volume of angiography whose voxels are
// 0 without flow: vessel positions, their share of the area, and their mean flow value. Projection tails below vessels
// can be removed first.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "engine/layers/layers.h"

namespace echolux {

struct VesselSpec {
    double above = 0.15;     // values above this count as flow; for decorrelations, close to the edge of a vessel
    double window_um = 100;  // side of the square over which the density map is averaged
};

// Maps [b_scan][a_scan]. NaN where a surface is missing or where the B-scan has no value at all, so that nothing was
// measured.
struct VesselMaps {
    std::vector<float> vessels;  // 1: flow, 0: no flow
    std::vector<float> flux;     // mean value of voxels with flow in the slab; 0 without flow
    std::vector<float> density;  // % of the measured area around with flow
};

// Statistics of the measured area; NaN if nothing was measured.
struct VesselStats {
    double area_mm2 = 0;                                                // measured area
    double measured_percent = 0;                                        // share of the map's area
    double density_percent = std::numeric_limits<double>::quiet_NaN();  // vessels, as a share of the measured area
    double skeleton_mm = 0;                                             // total length of the vessels' centre lines
    double skeleton_per_mm = density_percent;                           // skeleton_mm per area, mm / mm^2
    // Mean over vessels, in the volume's unit. Relative: it saturates with speed.
    double flux = density_percent;
};

// Returns whether the voxels are angiography values, dimensionless or relative, and 0 without flow.
bool is_angiogram(const VolumeGrid& grid);

// Maps the vessels between the surfaces of `slab`. A voxel counts as flow if at least a third of the up to 27 voxels
// around it are above spec.above, which is one plane and more than noise reaches. Throws Error{bad_setting} if the
// volume is not an angiogram or has no spacings.
VesselMaps vessel_maps(const Volume& flow, const Surfaces& surfaces, const SlabSpec& slab, const VesselSpec& spec);

// Returns statistics of the maps; the spacings of `grid` give areas and lengths.
VesselStats vessel_stats(const VesselMaps& maps, const VolumeGrid& grid);

// Returns CSV: a line that identifies the file, the column names, and the values of one slab.
std::string vessel_table(const VesselStats& stats, const std::string& slab);
// Returns whether the file at `path` was written from vessel_table().
bool is_own_vessel_table(const std::filesystem::path& path);

// Thins the samples of value 1 to lines one sample wide (T. Y. Zhang and C. Y. Suen, CACM 27(3), 1984). The order of
// removal is fixed, so results are reproducible.
std::vector<std::uint8_t> skeleton_of(const std::vector<float>& map, std::int64_t width, std::int64_t height);

// Returns the length of the lines in the unit of dx and dy. Counts steps to all eight neighbours.
double skeleton_length(const std::vector<std::uint8_t>& skeleton, std::int64_t width, double dx, double dy);

// Sets voxels to 0 that decorrelate no more than those at least `gap_um` above them, compared by medians over 3 x 3 x 3
// voxels. This also removes vessels directly below other vessels. Throws as vessel_maps() does.
void remove_tails(Volume& flow, double gap_um);

}  // namespace echolux
