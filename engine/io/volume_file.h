// Volumes in files, as VolumeGrid with depth fastest. Files use the orientation of images: columns are A-scans, rows
// are depth (downwards), slices are B-scans. This file transposes slice by slice for all formats of image_format.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/types.h"
#include "engine/interval.h"
#include "engine/io/image_format.h"
#include "engine/io/image_header.h"
#include "engine/progress.h"

namespace echolux {

// A volume in memory.
struct Volume {
    VolumeGrid grid;
    std::vector<std::byte> voxels;                  // grid.bytes()
    std::map<std::string, std::string> provenance;  // recipe, program version, ...; stored if the format supports it
};

// Returns whether the name has the ending of a volume (.nrrd, .nii.gz, .ome.zarr, ..., ignoring case), or an existing
// path is recognised by its contents.
bool is_volume_name(const std::filesystem::path& path);

// Checks that the name selects a format that can store voxels of this type. Throws Error{bad_setting}.
void check_volume_name(const std::filesystem::path& path, VoxelType type);

// As check_volume_name(), and checks that the path is writable. Throws also Error{output}. Leaves nothing behind.
void check_volume_output(const std::filesystem::path& path, VoxelType type);

// As check_volume_name(), and checks that the format supports several time points.
void check_series_name(const std::filesystem::path& path, VoxelType type);

// Returns whether a file or folder of that name can hold several time points. Throws Error{bad_setting} if the name has
// no known ending.
bool holds_time_points(const std::filesystem::path& path);

// Description of all time points of a file.
struct SeriesHeader {
    VolumeGrid grid{};  // same for all time points
    std::int64_t time_points = 1;
    double step_s = 0;              // interval between time points; 0: unknown
    std::vector<double> times_s{};  // time of each; empty: evenly spaced from 0
    std::map<std::string, std::string> provenance{};
};

// Part of a volume in voxels.
struct VolumeBox {
    Interval depth, a_scans, b_scans;
};

// Reads the volumes of a file or folder, one per time point. Ascending order is fastest. Use it from one thread at a
// time. Throws Error{bad_file, bad_setting (name), out_of_memory}. After an unreadable time point, others can still be
// read.
class SeriesFile {
  public:
    explicit SeriesFile(const std::filesystem::path& path);
    ~SeriesFile();

    const SeriesHeader& header() const { return header_; }
    std::int64_t time_points() const { return header_.time_points; }
    double step_s() const { return header_.step_s; }

    // Reads one time point, counted from 0. For a series, provenance "time_points" records which one.
    Volume read(std::int64_t time_point);

    // Reads whole B-scans of a time point: voxels with depth fastest.
    std::vector<std::byte> read(std::int64_t time_point, Interval b_scans);

    // Returns the number of B-scans that is fastest for sequential reading from 0.
    std::int64_t b_scans_together() const;

    // Returns the resolution levels from fine to coarse; level 0 is header().grid. Most formats have one.
    const std::vector<VolumeGrid>& levels() const { return levels_; }

    // Whether the cost of reading a box is proportional to its size.
    bool reads_boxes() const;

    // Returns the voxels of a box without gaps, depth fastest. Throws Error{bad_setting} unless reads_boxes(), and for
    // a box outside the volume.
    std::vector<std::byte> read_box(std::int64_t time_point, std::size_t level, const VolumeBox& box);

  private:
    std::filesystem::path path_;
    std::unique_ptr<ImageReader> reader_;
    SeriesHeader header_;
    std::vector<VolumeGrid> levels_;
};

// Writes B-scan by B-scan, so that a series need not fit into memory. The file appears under its name when complete;
// without finish() nothing is left behind. Throws Error{output} naming the file (disk full, no permission),
// Error{bad_setting} as check_volume_name(), Error{out_of_memory}.
class SeriesWriter {
  public:
    SeriesWriter(const std::filesystem::path& path, SeriesHeader header, const ImageStorage& storage = {});
    ~SeriesWriter();

    // Appends whole B-scans, depth fastest: first those of time point 0, then of time point 1, ...
    void write(std::span<const std::byte> b_scans);

    // Completes the file. Throws Error{output} if B-scans are missing.
    void finish();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

// Returns a line for each fact that a format cannot store, or stores only in our texts, which other programs ignore.
std::vector<std::string> lost_in(const SeriesHeader& header, const std::filesystem::path& path);

// Reads one volume in any supported format; of a series, the first time point.
Volume read_volume(const std::filesystem::path& path);

// Writes one volume. Unknown spacings are written as 1 without a unit. If `progress` cancels the work, nothing is left
// behind.
void write_volume(const std::filesystem::path& path, const Volume& volume);
void write_volume(const std::filesystem::path& path, const Volume& volume, Progress& progress);

// ---- conversion -----------------------------------------------------------------------------------------------------
// Conversion between image headers (columns = A-scans, rows = depth, slices = B-scans; millimetres; texts) and
// VolumeGrid (depth fastest; micrometres). No other code converts between them. Properties without a field in the
// format (unit, known spacings, provenance) are stored as texts with keys that start with "echolux_".

// Returns the header to write for a series.
ImageHeader image_header(const SeriesHeader& series);

// Returns the description of the series in a file.
SeriesHeader series_header(const ImageHeader& image);

// Returns whether the image has the texts that image_header() adds to each of our files.
bool has_own_texts(const ImageHeader& image);

// Adds a text of a foreign file to the provenance. Empty texts are ignored.
void add_provenance(ImageHeader& image, const std::string& key, const std::string& text);

// Returns whether the position and orientation in the patient are known.
bool has_pose(const SeriesHeader& series);

// Returns whether columns, rows or slices do not run along x, y and z.
bool is_turned(const SeriesHeader& series);

// Returns whether the first voxel is not at 0.
bool is_shifted(const SeriesHeader& series);

// Returns the grid of a coarser level. It differs from level 0 (`finest`) only in size, spacing and origin.
VolumeGrid level_grid(const ImageHeader& level, const ImageHeader& finest, const SeriesHeader& series);

// Computes out[column][row] = in[row][column] for each slice. Both spans hold the same number of whole slices and must
// not overlap.
void transpose(std::span<const std::byte> in, std::span<std::byte> out, VoxelType type, std::int64_t rows,
               std::int64_t columns);

// ---- voxels as numbers ----------------------------------------------------------------------------------------------

// Calls use(pointer to the first voxel, as its C++ type). The caller must exclude complex volumes. Throws
// Error{bad_setting} for f16, which only the renderer supports.
template <class Use>
void with_voxels(const Volume& volume, const Use& use) {
    const std::byte* voxels = volume.voxels.data();
    switch (volume.grid.type) {
        case VoxelType::u8: return use(reinterpret_cast<const std::uint8_t*>(voxels));
        case VoxelType::u16: return use(reinterpret_cast<const std::uint16_t*>(voxels));
        case VoxelType::i16: return use(reinterpret_cast<const std::int16_t*>(voxels));
        case VoxelType::f16:
            throw Error(ErrorCode::bad_setting, "f16 voxels are for display only", "recipe.voxel", "choose f32");
        default: return use(reinterpret_cast<const float*>(voxels));
    }
}

// Returns the smallest and largest code, ignoring NaN. Returns {infinity, -infinity} if all voxels are NaN.
inline std::pair<double, double> min_and_max(const Volume& volume) {
    double min = std::numeric_limits<double>::infinity(), max = -min;
    with_voxels(volume, [&](const auto* voxels) {
        for (std::int64_t i = 0; i < volume.grid.voxels(); ++i) {
            const auto code = static_cast<double>(voxels[i]);
            if (code < min) min = code;
            if (code > max) max = code;
        }
    });
    return {min, max};
}

// Returns the values of all voxels; NaN and infinity become 0.
std::vector<float> finite_values(const Volume& volume);

}  // namespace echolux
