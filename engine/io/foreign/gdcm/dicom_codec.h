// Decompresses DICOM voxels with GDCM. Runs only in a reader process, because GDCM's codecs are not hardened against
// hostile files. No other code uses GDCM.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/io/foreign/dicom_header.h"
#include "engine/io/image_stream.h"

namespace echolux {

// Starts the reader process. The files of a series share one, because starting it takes longer than most frames.
class DicomCodec {
  public:
    DicomCodec();
    ~DicomCodec();
    DicomCodec(const DicomCodec&) = delete;
    DicomCodec& operator=(const DicomCodec&) = delete;

    // Decompresses all frames (JPEG, JPEG-LS or JPEG 2000) to header.stored. Throws Error{bad_file, out_of_memory,
    // device (no reader process)}.
    std::vector<std::byte> unpack(const DicomHeader& header, const std::vector<DicomItem>& items);

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

// Shape of the decompressed frames and their encoding.
struct PackedFrames {
    std::int64_t columns = 0, rows = 0, voxel_bytes = 0, frames = 0;
    std::string transfer_syntax;

    ImageHeader header() const;  // one voxel per byte; the caller interprets them
    std::vector<std::int64_t> numbers() const { return {columns, rows, voxel_bytes, frames}; }
    static PackedFrames of(const std::vector<std::int64_t>& numbers, const std::string& transfer_syntax);
};

// Reads in the reader process. `descriptor` is a DICOM file with only the elements needed for decompression.
std::unique_ptr<ImageReader> read_dicom_frames(int descriptor, const std::filesystem::path& path,
                                               const PackedFrames& packed);

}  // namespace echolux
