// NIfTI-1 in a single file (.nii, .nii.gz; nifti.nimh.nih.gov). The header cannot describe the meaning of voxels, so a
// comment extension holds our texts as lines "key = text". The text "description" goes into the header (79 characters).
// Columns run along -x and rows along -y.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/io/image_format.h"

namespace echolux {

// See ImageFormat::open.
std::unique_ptr<ImageReader> open_nifti(const std::filesystem::path& path);

// See ImageFormat::create.
std::unique_ptr<ImageWriter> create_nifti(const std::filesystem::path& path, const ImageHeader& header,
                                          const ImageStorage& storage, const std::string& where);

}  // namespace echolux
