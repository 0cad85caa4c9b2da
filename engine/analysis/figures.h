// Two-dimensional grayscale figures of a volume: B-scans (columns = A-scans, rows = depth downwards) and en-face
// projections (columns = A-scans to the right, rows = B-scans upwards), as seen from above in the view at elevation 90.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/io/png_file.h"
#include "engine/io/volume_file.h"

namespace echolux {

// A figure before conversion to gray: values row by row, and the width and height of a value (any unit, 0: unknown).
struct Figure {
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::vector<float> values;
    double column_um = 0;
    double row_um = 0;
    bool is_db = false;  // so that the dB of zero can be recognized
};

// Values displayed as black and white.
struct GrayRange {
    double black = 0;
    double white = 1;
};

// Check that a volume of this grid has the figure, without making it. Throw Error{bad_setting} for B-scans or depth
// rows outside the volume and for complex voxels.
void check_b_scan(const VolumeGrid& grid, std::int64_t b_scan);
void check_en_face(const VolumeGrid& grid, std::int64_t begin, std::int64_t end);

// Returns the values of one B-scan; of linear reflectivities (quantity "reflectivity"), their fourth root. Throws as
// check_b_scan() does.
Figure b_scan_figure(const Volume& volume, std::int64_t b_scan);

// Returns the mean over the depth rows [begin, end). In dB volumes, empty voxels count as the smallest other value.
// Throws as check_en_face() does.
Figure en_face_figure(const Volume& volume, std::int64_t begin, std::int64_t end);

// As above, with rows relative to `surface` ([b_scan][a_scan], in rows). Rows outside the volume are ignored.
Figure en_face_figure(const Volume& volume, const std::vector<float>& surface, std::int64_t begin, std::int64_t end);

// Returns the figure with `factor` times as many columns and rows, linearly interpolated.
Figure enlarged(const Figure& figure, std::int64_t factor);

// Returns the range that excludes 0.3 % of the values on each side. Ignores the dB of zero.
GrayRange percentile_range(const Figure& figure);

// Converts to gray; without `range`, uses percentile_range(). If both sizes are known, the picture is stretched
// linearly to square pixels.
Picture gray_picture(const Figure& figure, std::optional<GrayRange> range = std::nullopt);

// Converts to gray with one pixel per value, whatever the size of a value is.
Picture gray_pixels(const Figure& figure, const GrayRange& range);

}  // namespace echolux
