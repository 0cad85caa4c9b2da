// Compressed voxels of DICOM files: run lengths, JPEG, JPEG-LS and JPEG 2000.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/io/foreign/dicom_header.h"

namespace echolux {

// Byte range of an item's content in the file.
struct DicomItem {
    std::int64_t place = 0, bytes = 0;
};

// Decompresses all frames to header.stored. `codec` is state shared by the files of a series, initially null. Throws
// Error{bad_file, out_of_memory, bad_setting (the codec is not part of this build)}.
std::vector<std::byte> unpack_dicom(const DicomHeader& header, std::shared_ptr<void>& codec);

// Returns the items with frames, without the index. Checks the size in each frame's header, because codecs allocate by
// it. Throws Error{bad_file} if it differs from the file's header, or if the items have no end.
std::vector<DicomItem> dicom_items(const DicomHeader& header);

// Decompresses run-length encoded frames. Throws Error{bad_file}.
std::vector<std::byte> unpack_run_lengths(const DicomHeader& header, const std::vector<DicomItem>& items);

}  // namespace echolux
