// What lies between two surfaces, seen from above; and a volume in which one of them lies flat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/layers/surfaces.h"

namespace echolux {

// mean: of intensities, in dB afterwards where the volume is in dB; top3: the same of the three greatest.
enum class SlabValue { mean, max, top3 };

struct SlabSpec {
    std::size_t upper = 0, lower = 0;               // surfaces
    double below_upper_um = 0, below_lower_um = 0;  // rows where the spacing is unknown; less than 0: above it
    SlabValue value = SlabValue::mean;
};

// Rows of the A-scan `line` whose voxels' centres lie between; nothing where a surface is missing or no voxel lies
// there.
struct RowRange {
    std::int64_t begin = 0, end = 0;
};
std::optional<RowRange> rows_between(const Surfaces& surfaces, const SlabSpec& slab, const VolumeGrid& grid,
                                     std::size_t line);

// [b_scan][a_scan], of the voxels whose centres lie between; NaN where a surface is missing or no voxel lies between.
// Throws Error{bad_setting} for complex voxels.
std::vector<float> en_face_between(const Volume& volume, const Surfaces& surfaces, const SlabSpec& slab);

// A map as a volume of one row: columns are A-scans, rows B-scans.
Volume volume_of_map(const std::vector<float>& map, const Volume& volume, const char* quantity, const char* unit);

// The row at which a surface lies in a flat volume: the mean of those that are known, rounded.
double flat_row_of(const Surface& surface);

// A-scans moved in depth until the surface lies at flat_row_of(); `back`: away from there again. Cubic between rows
// (R. Keys, IEEE TASSP 29, 1153, 1981); beyond its ends an A-scan's last voxel goes on. A-scans without a surface are
// empty afterwards: NaN, of whole numbers the least code. Throws Error{bad_setting} for complex voxels.
void flatten_to(Volume& volume, const Surface& surface, bool back = false);

}  // namespace echolux
