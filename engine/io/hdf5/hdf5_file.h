// HDF5: the voxels are one dataset /volume, time x slices x rows x columns (without time where there is one volume), in
// chunks packed by gzip with check sums; its attributes carry spacing, origin and texts, /times_s the time stamps
// (docs/formats.md). Files of others: the dataset of three or four dimensions that holds most.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/io/image_format.h"

namespace echolux {

std::unique_ptr<ImageReader> open_hdf5(const std::filesystem::path& path);

// A certain dataset, without the slash at the front; empty: as above.
std::unique_ptr<ImageReader> open_hdf5_dataset(const std::filesystem::path& path, const std::string& name);

std::unique_ptr<ImageWriter> create_hdf5(const std::filesystem::path& path, const ImageHeader& header,
                                         const ImageStorage& storage, const std::string& where);

}  // namespace echolux
