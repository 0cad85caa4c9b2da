// Message about the memory for recent volumes of a display.
#pragma once

#include <cstdint>
#include <string>

#include "render/slots/live_slots.h"

namespace echolux {

// Returns one line: how many volumes `slots` can keep in `keep_bytes`, or why none. `why_none` is the error if
// allocating memory for them failed.
std::string kept_line(const LiveSlots& slots, std::int64_t keep_bytes, const std::string& why_none);

}  // namespace echolux
