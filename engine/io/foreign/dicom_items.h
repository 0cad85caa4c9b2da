// Voxels of DICOM files that are packed: by run lengths, or by JPEG, JPEG-LS and JPEG 2000.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/io/foreign/dicom_header.h"

namespace echolux {

// Part of a file: what one item holds.
struct DicomItem {
    std::int64_t place = 0, bytes = 0;
};

// All frames, as DicomHeader says they are stored. `codec` is what the files of a series share, nothing at first.
// Throws Error{bad_file, out_of_memory, bad_setting (the codec is not part of this build)}.
std::vector<std::byte> unpack_dicom(const DicomHeader& header, std::shared_ptr<void>& codec);

// Of the items behind the index, which hold the frames. Sizes in each frame's own header are compared, because codecs
// allocate by them. Throws Error{bad_file}: they differ from the file's, or the items have no end.
std::vector<DicomItem> dicom_items(const DicomHeader& header);

std::vector<std::byte> unpack_run_lengths(const DicomHeader& header, const std::vector<DicomItem>& items);

}  // namespace echolux
