#include "engine/parts.h"

#include <fmt/format.h>

#include "compute/error.h"

namespace echolux {

void refuse_missing(Part part, const std::string& where) {
    const PartWords& words = words_of(part);
    throw Error(ErrorCode::bad_setting, fmt::format("this build has no {}", words.what), where,
                fmt::format("{}build with -DECHOLUX_{}=ON", words.instead, words.option));
}

}  // namespace echolux
