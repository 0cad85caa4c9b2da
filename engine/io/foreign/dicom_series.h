// DICOM files and folders as volumes. Slices are sorted by their position in the patient; repeated positions are time
// points. In a folder with several series, the largest is used, or the one named after a colon by its number, its
// description or the beginning of its UID: FOLDER:3.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/io/image_stream.h"

namespace echolux {

// Returns whether the path is a folder with DICOM files or a DICOM file with another ending. Checks only a few files.
bool is_dicom_series(const std::filesystem::path& path);

// Opens the series. Throws Error{bad_file, bad_setting (unknown series; a codec is not part of this build),
// out_of_memory}.
std::unique_ptr<ImageReader> open_dicom(const std::filesystem::path& path);

}  // namespace echolux
