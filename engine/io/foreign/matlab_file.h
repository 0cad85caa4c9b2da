// MATLAB .mat files of versions 5 to 7 (MAT-File Format, The MathWorks) and 7.3 (HDF5). The volume is the largest real
// or complex array of three or four dimensions, of two if there is no other, or the one named as FILE.mat:VARIABLE.
// Rows are depth, columns A-scans, the third dimension B-scans, the fourth time points. There are no spacings. Version
// 5 is parsed here: sizes are checked against the file before memory is allocated, and slices are read on demand.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/io/image_stream.h"

namespace echolux {

// Opens the volume. Throws Error{bad_file, bad_setting (unknown variable; 7.3 is not part of this build),
// out_of_memory}.
std::unique_ptr<ImageReader> open_matlab(const std::filesystem::path& path);

}  // namespace echolux
