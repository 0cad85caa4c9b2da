// Decompresses DICOM voxels with GDCM in a reader process. The files of a series share one, because starting it takes
// longer than most frames.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/io/foreign/dicom_header.h"

namespace echolux {

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

}  // namespace echolux
