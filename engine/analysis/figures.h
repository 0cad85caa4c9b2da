// Two-dimensional grayscale figures of a volume: B-scans (columns = A-scans, rows = depth downwards) and en-face
// projections (columns = A-scans to the right, rows = B-scans upwards), as seen from above in the view at elevation 90.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/interval.h"
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
    bool is_db = false;                   // so that the dB of zero can be recognized
    std::optional<double> noise_floor{};  // mean power in dB of the darkest rows of a B-scan
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

// Returns for each B-scan whether the provenance "missing_b_scans" lists it.
std::vector<bool> named_missing_slices(const Volume& volume);

// Returns for each B-scan of an integer volume whether it is listed as missing and contains only code 0. Figures show
// such B-scans as NaN, like those of floats: black, and ignored by ranges.
std::vector<bool> slices_without_data(const Volume& volume);

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

// Returns the range from the noise floor to the 99.9 percentile if the noise floor is known, and otherwise the range
// that excludes 0.3 % of the values on each side. Ignores the dB of zero.
GrayRange percentile_range(const Figure& figure);

// Converts to gray; without `range`, uses percentile_range(). If both sizes are known, the picture is stretched
// linearly to square pixels.
Picture gray_picture(const Figure& figure, std::optional<GrayRange> range = std::nullopt);

// Converts to gray with one pixel per value, regardless of the physical size of a value.
Picture gray_pixels(const Figure& figure, const GrayRange& range);

// ---- Single A-scans as numbers: values along depth, and the sharpness of the strongest echo.

struct DepthProfile {
    bool is_um = false;         // `depth` is in um from zero delay; otherwise in rows
    std::vector<double> depth;  //
    std::vector<double> values;
    std::string unit;  // unit of the values; empty if unknown
};

// Returns one A-scan. Throws Error{bad_setting} if it is not in the volume, and for complex voxels.
DepthProfile depth_profile(const Volume& volume, std::int64_t a_scan, std::int64_t b_scan);

// The strongest echo of an A-scan, measured on amplitudes; dB and intensities are converted.
struct StrongestEcho {
    std::int64_t b_scan = 0;
    std::int64_t a_scan = 0;
    double depth = 0;   // in the unit of DepthProfile, interpolated between rows
    double height = 0;  // in the volume's unit
    double fwhm = 0;    // width of the amplitude in the unit of `depth`; 0 if it does not fall to half on both sides
    // Largest amplitude outside the main lobe, which ends at the first minimum on each side; minus infinity if there is
    // none.
    double side_lobe_db = 0;
};

// Returns the strongest echo of every A-scan, optionally only of some B-scans and depth rows. An end of 0 means the
// last one. Throws Error{bad_setting} for an interval outside the volume.
std::vector<StrongestEcho> strongest_echoes(const Volume& volume, Interval b_scans = {}, Interval rows = {});

// Return CSV with a header line that includes units.
std::string csv_of(const DepthProfile& profile);
std::string csv_of(const std::vector<StrongestEcho>& echoes, const VolumeGrid& grid);

// ---- Values of a volume along a straight line.

struct LineProfile {
    std::array<double, 3> from{}, to{};  // depth, A-scans, B-scans: lengths from the centre of the first voxel
    std::vector<float> values;           // two or more evenly spaced values, the first at `from`, the last at `to`
    std::string unit;                    // unit of the values
    double length = 0;                   // length of the line in um, or in voxels if the spacing is unknown
    bool has_spacing = false;

    double step() const { return length / static_cast<double>(values.size() - 1); }
};

// Samples the line by trilinear interpolation, two values per voxel and at most 4096. The outermost voxels extend
// beyond the volume. Throws Error{bad_setting} for complex voxels.
LineProfile line_profile(const Volume& volume, const std::array<double, 3>& from, const std::array<double, 3>& to);

// Returns CSV: "length_um,value" and a line per value; the column is length_voxels if the spacing is unknown.
std::string profile_csv(const LineProfile& profile);

}  // namespace echolux
