// What a DICOM file (PS3.10) says of its picture. Read by hand: folders hold hundreds of files of which only headers
// are wanted, and what one claims has to be compared with the file before a library allocates for it.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/io/image_header.h"

namespace echolux {

using Vector3 = std::array<double, 3>;  // mm, in the patient's coordinates

struct DicomFrame {
    Vector3 position{};
    bool has_position = false;
    double slope = 1, intercept = 0;
};

struct DicomHeader {
    std::filesystem::path path;
    std::string transfer_syntax;
    bool big_endian = false;
    bool packed = false;           // by a codec (JPEG, RLE, ...), or the whole file by deflate
    std::int64_t voxels_at = 0;    // first byte; of what is packed: of its first item
    std::int64_t voxel_bytes = 0;  // as they lie in the file; what is packed: at most

    std::int64_t columns = 0, rows = 0;
    StoredType stored = StoredType::u16;
    int bits_stored = 16, high_bit = 15;  // of integers; the others mean nothing
    bool is_inverted = false;             // MONOCHROME1: large values are dark

    std::array<double, 2> pitch_mm{};  // between columns, between rows; 0: unknown
    double slice_pitch_mm = 0;         // as it is said; 0: unknown
    Vector3 along_row{1, 0, 0}, along_column{0, 1, 0};
    std::vector<DicomFrame> frames;  // none: the file holds no picture
    double frame_time_s = 0;         // of movies; 0: unknown

    std::string series, description, modality, manufacturer, study_date;
    std::int64_t series_number = 0, instance = 0, acquisition = 0;
};

bool is_dicom(const std::filesystem::path& path);

// A file without a picture (a directory, a report) has no frames. Throws Error{bad_file}: is none, is damaged, or holds
// a picture in colours.
DicomHeader read_dicom_header(const std::filesystem::path& path);

}  // namespace echolux
