// Packed DICOM voxels through GDCM, in a reader process.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/io/foreign/dicom_items.h"

namespace echolux {

// JPEG, JPEG-LS and JPEG 2000: all frames, as DicomHeader says they are stored. Throws Error{bad_file, out_of_memory}.
std::vector<std::byte> unpack_by_codec(const DicomHeader& header, const std::vector<DicomItem>& items);

}  // namespace echolux
