// Packed DICOM voxels through GDCM, in a reader process that the files of a series share: starting one takes longer
// than most frames.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/io/foreign/dicom_items.h"

namespace echolux {

class DicomCodec {
  public:
    DicomCodec();
    ~DicomCodec();
    DicomCodec(const DicomCodec&) = delete;
    DicomCodec& operator=(const DicomCodec&) = delete;

    // JPEG, JPEG-LS and JPEG 2000: all frames, as DicomHeader says they are stored. Throws Error{bad_file,
    // out_of_memory, device (no reader process)}.
    std::vector<std::byte> unpack(const DicomHeader& header, const std::vector<DicomItem>& items);

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
