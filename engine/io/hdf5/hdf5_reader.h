// Reads HDF5 files. It runs only in a reader process, because the library is not hardened against hostile files.
// open_hdf5() (hdf5_file.h) starts that process.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/io/image_stream.h"

namespace echolux {

// Reads an open file. `path` is for messages. `part` is the dataset; if empty, /volume, else the largest.
std::unique_ptr<ImageReader> read_hdf5(int descriptor, const std::filesystem::path& path, const std::string& part);

}  // namespace echolux
