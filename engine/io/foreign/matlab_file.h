// MATLAB .mat files: versions 5 to 7 (MAT-File Format, The MathWorks) and 7.3 (HDF5). The largest real or complex array
// of three or four dimensions is the volume, or FILE.mat:VARIABLE; of two where there is no other. Rows are depth,
// columns A-scans, the third dimension B-scans, the fourth time points; there are no spacings. Version 5 is read by
// hand: what a file claims is compared with what it holds before anything is allocated, and slices are read as they are
// needed.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/io/image_stream.h"

namespace echolux {

// Throws Error{bad_file, bad_setting (no such variable; 7.3 not part of this build), out_of_memory}.
std::unique_ptr<ImageReader> open_matlab(const std::filesystem::path& path);

}  // namespace echolux
