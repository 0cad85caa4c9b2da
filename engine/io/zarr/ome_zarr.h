// OME-Zarr 0.4 (Zarr 2) and 0.5 (Zarr 3; ngff.openmicroscopy.org): a folder with a picture at several resolutions, in
// chunks, so that parts of volumes larger than memory can be read. Axes are t z y x. Our texts are stored with the
// metadata under the key "echolux" (docs/formats.md).
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/io/image_format.h"

namespace echolux {

// Returns whether the folder contains the metadata of a Zarr group or array.
bool is_zarr(const std::filesystem::path& folder);

// See ImageFormat::open.
std::unique_ptr<ImageReader> open_ome_zarr(const std::filesystem::path& path);

// See ImageFormat::create.
std::unique_ptr<ImageWriter> create_ome_zarr(const std::filesystem::path& path, const ImageHeader& header,
                                             const ImageStorage& storage, const std::string& where);

}  // namespace echolux
