// Volumes in files, in our own language: VolumeGrid, depth fastest. Files are oriented for people: columns = A-scans,
// rows = depth downwards, slices = B-scans. The turn happens here, slice by slice, for all formats of image_format.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compute/types.h"
#include "engine/interval.h"
#include "engine/io/image_format.h"
#include "engine/progress.h"

namespace echolux {

struct Volume {
    VolumeGrid grid;
    std::vector<std::byte> voxels;                  // grid.bytes()
    std::map<std::string, std::string> provenance;  // kept where the format has room: recipe, program version, ...
};

// Whether the name is one of a volume (.nrrd, .nii.gz, .ome.zarr, ..., in upper or lower case), or what stands there is
// known as one without an ending of its own.
bool is_volume_name(const std::filesystem::path& path);

// Whether a volume can be written: the format goes by the name. Throws Error{bad_setting} for another name, and for a
// voxel type the format cannot hold.
void check_volume_name(const std::filesystem::path& path, VoxelType type);

// The same, and whether something can be written there. Throws also Error{output}; leaves nothing but the folder.
void check_volume_output(const std::filesystem::path& path, VoxelType type);

// Whether a series can be written: as check_volume_name(), and the format holds several time points.
void check_series_name(const std::filesystem::path& path, VoxelType type);

// Whether one file or folder of that name can hold several time points. Throws Error{bad_setting}: no name of a volume.
bool holds_time_points(const std::filesystem::path& path);

// What a file says of all its time points.
struct SeriesHeader {
    VolumeGrid grid{};  // of each
    std::int64_t time_points = 1;
    double step_s = 0;              // between them; 0: unknown
    std::vector<double> times_s{};  // of each; empty: evenly spaced from 0
    std::map<std::string, std::string> provenance{};
};

// Part of a volume, in voxels.
struct VolumeBox {
    Interval depth, a_scans, b_scans;
};

// The volumes of a file or folder, one for each time point. Read soonest in their order; one thread at a time. Throws
// Error{bad_file, bad_setting (name), out_of_memory}; after a time point that cannot be read, others can be.
class SeriesFile {
  public:
    explicit SeriesFile(const std::filesystem::path& path);
    ~SeriesFile();

    const SeriesHeader& header() const { return header_; }
    std::int64_t time_points() const { return header_.time_points; }
    double step_s() const { return header_.step_s; }

    // Counted from 0. Of a series, provenance "time_points" says which one this is.
    Volume read(std::int64_t time_point);

    // Some whole B-scans of a time point: their voxels, depth fastest.
    std::vector<std::byte> read(std::int64_t time_point, Interval b_scans);

    // How many B-scans at a time cost least to read one after the other, from 0 on.
    std::int64_t b_scans_together() const;

    // The same volume ever coarser; level 0 is header().grid. Most formats have one level.
    const std::vector<VolumeGrid>& levels() const { return levels_; }

    // Whether boxes are read at a cost that goes with their size.
    bool reads_boxes() const;

    // Packed voxels of a box, depth fastest. Throws Error{bad_setting} unless reads_boxes(), and for a box outside.
    std::vector<std::byte> read_box(std::int64_t time_point, std::size_t level, const VolumeBox& box);

  private:
    std::filesystem::path path_;
    std::unique_ptr<ImageReader> reader_;
    SeriesHeader header_;
    std::vector<VolumeGrid> levels_;
};

// A file that is written B-scan by B-scan, so that a series never has to fit into memory. It appears under its name
// when it is complete; without finish() nothing is left behind. Throws Error{output} naming the file (disk full, no
// permission), Error{bad_setting} as check_volume_name() does, Error{out_of_memory}.
class SeriesWriter {
  public:
    SeriesWriter(const std::filesystem::path& path, SeriesHeader header, const ImageStorage& storage = {});
    ~SeriesWriter();

    // The next whole B-scans, depth fastest: those of the first time point in their order, then of the second, ...
    void write(std::span<const std::byte> b_scans);

    // All were written. Throws Error{output} when B-scans are missing.
    void finish();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

// Any file that is a volume, whoever wrote it; of a series the first time point.
Volume read_volume(const std::filesystem::path& path);

// One volume at once. Spacing that is unknown is written as 1 with the unit left out. Where `progress` stops it,
// nothing is left behind.
void write_volume(const std::filesystem::path& path, const Volume& volume);
void write_volume(const std::filesystem::path& path, const Volume& volume, Progress& progress);

}  // namespace echolux
