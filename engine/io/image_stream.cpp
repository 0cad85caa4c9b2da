#include "engine/io/image_stream.h"

#include "compute/error.h"

namespace echolux {

std::vector<std::byte> ImageReader::read_box(std::int64_t, std::size_t, const ImageBox&) {
    throw Error(ErrorCode::bad_setting, "this format is read slice by slice", "volume file");
}

}  // namespace echolux
