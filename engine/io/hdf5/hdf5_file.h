// HDF5 volumes. We write one dataset /volume, time x slices x rows x columns (without time for a single volume), in
// chunks compressed by gzip with checksums. Its attributes are spacing, origin and texts; /times_s holds the time
// stamps (docs/formats.md). In foreign files, the largest dataset of two to four dimensions is the volume.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/io/image_format.h"

namespace echolux {

// See ImageFormat::open.
std::unique_ptr<ImageReader> open_hdf5(const std::filesystem::path& path);

// Opens a given dataset, named without the leading slash. An empty name selects it as open_hdf5().
std::unique_ptr<ImageReader> open_hdf5_dataset(const std::filesystem::path& path, const std::string& name);

// See ImageFormat::create.
std::unique_ptr<ImageWriter> create_hdf5(const std::filesystem::path& path, const ImageHeader& header,
                                         const ImageStorage& storage, const std::string& where);

}  // namespace echolux
