// En-face maps between two surfaces, and flattening of a volume to a surface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/layers/surfaces.h"

namespace echolux {

// mean: of intensities, converted back to dB for volumes in dB; top3: mean of the three largest.
enum class SlabValue { mean, max, top3 };

// A slab between two surfaces, each with an offset.
struct SlabSpec {
    std::size_t upper = 0, lower = 0;               // indices of surfaces
    double below_upper_um = 0, below_lower_um = 0;  // in rows if the spacing is unknown; negative: above the surface
    SlabValue value = SlabValue::mean;
};

// Returns the rows of A-scan `line` whose voxel centres are between the surfaces; nullopt if a surface is missing or
// there are none.
struct RowRange {
    std::int64_t begin = 0, end = 0;
};
std::optional<RowRange> rows_between(const Surfaces& surfaces, const SlabSpec& slab, const VolumeGrid& grid,
                                     std::size_t line);

// Returns [b_scan][a_scan] of the voxels whose centres are between the surfaces; NaN if a surface is missing or there
// are none. Throws Error{bad_setting} for complex voxels.
std::vector<float> en_face_between(const Volume& volume, const Surfaces& surfaces, const SlabSpec& slab);

// Returns the map as a single slice: columns are A-scans, rows are B-scans.
Volume volume_of_map(const std::vector<float>& map, const Volume& volume, const char* quantity, const char* unit);

// Returns the row of a surface in a flattened volume: the rounded mean of its known rows.
double flat_row_of(const Surface& surface);

// Shifts A-scans in depth so that the surface is at flat_row_of(); `back` reverses this. Interpolates between rows by
// cubic convolution (R. Keys, IEEE TASSP 29, 1153, 1981); end voxels extend beyond the ends. A-scans without the
// surface become empty: NaN, or the smallest code of integer types. Throws Error{bad_setting} for complex voxels.
void flatten_to(Volume& volume, const Surface& surface, bool back = false);

}  // namespace echolux
