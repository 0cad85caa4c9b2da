// NIfTI-1 in one file (.nii, .nii.gz; nifti.nimh.nih.gov). Written and read by hand because ITK's reader takes the
// voxels of NAME.nii when it is asked for NAME.nii.gz and both exist, does not notice truncated files, and its writer
// notices no full disk and keeps neither description nor provenance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/io/image_header.h"

namespace echolux {

// A volume or a series of volumes. Time points of a compressed file are found soonest in their order: whatever lies
// before one is read.
class NiftiReader {
  public:
    // Throws Error{bad_file, out_of_memory}.
    explicit NiftiReader(const std::filesystem::path& path);
    ~NiftiReader();

    const ImageHeader& header() const;

    // The voxels of a time point, counted from 0. Throws Error{bad_file}; others may be read afterwards.
    std::vector<std::byte> read(std::int64_t time_point);

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

// Texts go into a comment extension, "key = text" a line; the text "description" goes into the header (79 characters).
// Columns run along -x and rows along -y (as in ITK's files of other formats). Throws Error{output} naming `where`.
void write_nifti(const std::filesystem::path& path, const ImageHeader& header, const std::vector<std::byte>& voxels,
                 const std::string& where);

}  // namespace echolux
