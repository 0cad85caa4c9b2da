// The only door to GDCM. It runs in a reader process alone, since its codecs were not written for hostile files:
// DicomCodec of dicom_codec.h starts one.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/io/image_stream.h"

namespace echolux {

// Frames as they are packed, and as they are to come out of it.
struct PackedFrames {
    std::int64_t columns = 0, rows = 0, voxel_bytes = 0, frames = 0;
    std::string transfer_syntax;

    ImageHeader header() const;  // a column a byte: what they mean is for others
    std::vector<std::int64_t> numbers() const { return {columns, rows, voxel_bytes, frames}; }
    static PackedFrames of(const std::vector<std::int64_t>& numbers, const std::string& transfer_syntax);
};

// `descriptor` holds a DICOM file with nothing but what it takes to unpack them.
std::unique_ptr<ImageReader> read_dicom_frames(int descriptor, const std::filesystem::path& path,
                                               const PackedFrames& packed);

}  // namespace echolux
