// Volumes in files: NRRD, NIfTI, TIFF, MetaImage. Files are oriented for people: columns = A-scans, rows = depth
// downwards, slices = B-scans; memory is oriented for textures (VolumeGrid: depth fastest). The turn happens here.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compute/types.h"

namespace echolux {

struct Volume {
    VolumeGrid grid;
    std::vector<std::byte> voxels;                  // grid.bytes()
    std::map<std::string, std::string> provenance;  // kept where the format has room: recipe, program version, ...
};

// Whether the ending is one of a volume format, in upper or lower case: .nrrd .nii .nii.gz .tif .tiff .mha .mhd.
bool is_volume_name(const std::filesystem::path& path);

// Whether a volume can be written: the format goes by the name (.nrrd .nii .nii.gz .tif .tiff .mha). Throws
// Error{bad_setting} for another name, and for a voxel type the format cannot hold.
void check_volume_name(const std::filesystem::path& path, VoxelType type);

// Writes under a temporary name beside `path` and renames when complete. Spacing that is unknown is written as 1 with
// the unit left out. Throws Error{output} naming the file (disk full, no permission); no partial file is left behind.
void write_volume(const std::filesystem::path& path, const Volume& volume);

// Any of the formats above or .mhd, whoever wrote it. A series gives its first time point, and provenance "time_points"
// says so. Throws Error{bad_file, bad_setting (name), out_of_memory}.
Volume read_volume(const std::filesystem::path& path);

class NiftiReader;

// The volumes of a file, one for each time point: NIfTI holds several, of other formats there is one. Read soonest in
// their order. Throws Error{bad_file, bad_setting (name), out_of_memory}.
class SeriesFile {
  public:
    explicit SeriesFile(const std::filesystem::path& path);
    ~SeriesFile();

    std::int64_t time_points() const;
    double step_s() const;  // between them; 0: unknown

    // Counted from 0; after one that cannot be read, others can be.
    Volume read(std::int64_t time_point);

  private:
    std::filesystem::path path_;
    std::unique_ptr<NiftiReader> nifti_;
};

}  // namespace echolux
