// What is said of the memory for the last volumes of a display.
#pragma once

#include <cstdint>
#include <string>

#include "render/slots/live_slots.h"

namespace echolux {

// One line: how many volumes `slots` keep, or why none, where `keep_bytes` were given for them. `why_none`: where
// making room for them failed.
std::string kept_line(const LiveSlots& slots, std::int64_t keep_bytes, const std::string& why_none);

}  // namespace echolux
