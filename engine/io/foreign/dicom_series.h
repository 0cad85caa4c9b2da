// DICOM files and folders as volumes: the slices of a series in the order of their positions in the patient; positions
// that occur several times are time points. Of several series in a folder the largest is taken, or the one that is
// named by its number, the beginning of its UID or its description: FOLDER:3.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/io/image_stream.h"

namespace echolux {

// Whether it is a folder with DICOM files, or a DICOM file without an ending. Repeats at a few files.
bool is_dicom_series(const std::filesystem::path& path);

// Throws Error{bad_file, bad_setting (no such series; a codec that is not part of this build), out_of_memory}.
std::unique_ptr<ImageReader> open_dicom(const std::filesystem::path& path);

}  // namespace echolux
