// The only code that uses GDCM. It runs only in a reader process, because GDCM's codecs are not hardened against
// hostile files. DicomCodec (dicom_codec.h) starts that process.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/io/image_stream.h"

namespace echolux {

// Shape of the decompressed frames and their encoding.
struct PackedFrames {
    std::int64_t columns = 0, rows = 0, voxel_bytes = 0, frames = 0;
    std::string transfer_syntax;

    ImageHeader header() const;  // one voxel per byte; the caller interprets them
    std::vector<std::int64_t> numbers() const { return {columns, rows, voxel_bytes, frames}; }
    static PackedFrames of(const std::vector<std::int64_t>& numbers, const std::string& transfer_syntax);
};

// `descriptor` is a DICOM file with only the elements needed for decompression.
std::unique_ptr<ImageReader> read_dicom_frames(int descriptor, const std::filesystem::path& path,
                                               const PackedFrames& packed);

}  // namespace echolux
