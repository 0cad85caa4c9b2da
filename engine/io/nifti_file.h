// NIfTI-1 in one file (.nii, .nii.gz; nifti.nimh.nih.gov). Its header has no room for the meaning of voxels, so a
// comment extension carries our texts, "key = text" a line; the text "description" goes into the header (79
// characters). Columns run along -x and rows along -y.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/io/image_format.h"

namespace echolux {

std::unique_ptr<ImageReader> open_nifti(const std::filesystem::path& path);

std::unique_ptr<ImageWriter> create_nifti(const std::filesystem::path& path, const ImageHeader& header,
                                          const ImageStorage& storage, const std::string& where);

}  // namespace echolux
