// The reader of HDF5 files itself. It runs in a reader process alone, since the library was not written for hostile
// files: open_hdf5() of hdf5_file.h starts one.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/io/image_stream.h"

namespace echolux {

// Of an open file; `path` is for messages, `part` the dataset, empty: ours, else the largest.
std::unique_ptr<ImageReader> read_hdf5(int descriptor, const std::filesystem::path& path, const std::string& part);

}  // namespace echolux
