// OME-Zarr 0.4 (Zarr 2) and 0.5 (Zarr 3; ngff.openmicroscopy.org): a folder with the same picture ever coarser, in
// chunks, so that parts of volumes larger than memory can be read. Axes are t z y x; our texts stand beside the
// metadata under the key "echolux" (docs/formats.md).
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/io/image_format.h"

namespace echolux {

// Whether the folder says that it is a group or an array of Zarr.
bool is_zarr(const std::filesystem::path& folder);

std::unique_ptr<ImageReader> open_ome_zarr(const std::filesystem::path& path);

std::unique_ptr<ImageWriter> create_ome_zarr(const std::filesystem::path& path, const ImageHeader& header,
                                             const ImageStorage& storage, const std::string& where);

}  // namespace echolux
