// Without GDCM: see dicom_codec.h.
#include "compute/error.h"
#include "engine/io/foreign/dicom_codec.h"

namespace echolux {

std::vector<std::byte> unpack_by_codec(const DicomHeader& header, const std::vector<DicomItem>&) {
    throw Error(ErrorCode::bad_setting, "is packed by a codec, which this build cannot read (ECHOLUX_GDCM is off)",
                header.path.string(), "unpack it with another program first");
}

}  // namespace echolux
