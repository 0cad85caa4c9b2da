// The picture description in a DICOM file (PS3.10). Parsed here instead of by GDCM, because folders hold hundreds of
// files of which only the headers are needed, and because claimed sizes must be checked before a library allocates
// memory.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/io/image_header.h"

namespace echolux {

using Vector3 = std::array<double, 3>;  // mm, in patient coordinates

// Position and value scaling (slope, intercept) of a frame.
struct DicomFrame {
    Vector3 position{};
    bool has_position = false;
    double slope = 1, intercept = 0;
};

struct DicomHeader {
    std::filesystem::path path;
    std::string transfer_syntax;
    bool big_endian = false;
    bool packed = false;           // by a codec (JPEG, RLE, ...)
    std::int64_t voxels_at = 0;    // offset of the first byte; if packed, of the first item
    std::int64_t voxel_bytes = 0;  // size in the file; an upper limit if packed

    std::int64_t columns = 0, rows = 0;
    StoredType stored = StoredType::u16;
    int bits_stored = 16, high_bit = 15;  // used bits of integers; ignore the others
    bool is_inverted = false;             // MONOCHROME1: large values are dark

    std::array<double, 2> pitch_mm{};  // distance of columns and of rows; 0: unknown
    double slice_pitch_mm = 0;         // as specified in the file; 0: unknown
    Vector3 along_row{1, 0, 0}, along_column{0, 1, 0};
    std::vector<DicomFrame> frames;  // empty if the file contains no picture
    double frame_time_s = 0;         // time per frame of movies; 0: unknown

    std::string series, description, modality, manufacturer, study_date;
    std::int64_t series_number = 0, instance = 0, acquisition = 0;
};

// Byte range of an item with compressed voxels.
struct DicomItem {
    std::int64_t place = 0, bytes = 0;
};

// Returns whether the file has the DICOM magic number.
bool is_dicom(const std::filesystem::path& path);

// Parses a header. Files without a picture (a directory, a report) have no frames. Throws Error{bad_file} if the file
// is not DICOM, is damaged, or contains a picture in colours.
DicomHeader read_dicom_header(const std::filesystem::path& path);

}  // namespace echolux
