// Two-dimensional pictures of a volume in gray: a B-scan (columns = A-scans, rows = depth downwards) and an en-face
// projection (columns = A-scans to the right, B-scans upwards: as seen from above, as in the view at elevation 90).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/io/png_file.h"
#include "engine/io/volume_file.h"

namespace echolux {

// A gray picture before it has grays: values row by row, and how wide and high one is (any unit, 0: unknown).
struct Figure {
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::vector<float> values;
    double column_um = 0;
    double row_um = 0;
    bool is_db = false;  // so that the dB of zero is known for what it is
};

// Values shown as black and white.
struct GrayRange {
    double black = 0;
    double white = 1;
};

// Whether a volume of this grid has such a figure, before it is made. Throw Error{bad_setting}: no such B-scan, no such
// depth rows, complex voxels.
void check_b_scan(const VolumeGrid& grid, std::int64_t b_scan);
void check_en_face(const VolumeGrid& grid, std::int64_t begin, std::int64_t end);

// Values, but of linear reflectivities (quantity "reflectivity") their fourth root. Throws what check_b_scan throws.
Figure b_scan_figure(const Volume& volume, std::int64_t b_scan);

// Mean over the depth rows [begin, end); of dB, voxels that hold nothing at all count as the least of the others.
// Throws what check_en_face throws.
Figure en_face_figure(const Volume& volume, std::int64_t begin, std::int64_t end);

// The same, rows counted from `surface` ([b_scan][a_scan], in rows); what lies outside the volume is left out.
Figure en_face_figure(const Volume& volume, const std::vector<float>& surface, std::int64_t begin, std::int64_t end);

// `factor` times as many columns and rows, linear in between.
Figure enlarged(const Figure& figure, std::int64_t factor);

// Range that leaves 0.3 % of the values below and above; the dB of zero is none of them.
GrayRange percentile_range(const Figure& figure);

// `range`: nothing for percentile_range. Where both sizes are known the picture gets square pixels, enlarged linearly.
Picture gray_picture(const Figure& figure, std::optional<GrayRange> range = std::nullopt);

// One pixel a value, however wide and high that is.
Picture gray_pixels(const Figure& figure, const GrayRange& range);

}  // namespace echolux
