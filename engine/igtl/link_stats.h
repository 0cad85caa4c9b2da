// Statistics of an OpenIGTLink link.
#pragma once

#include <cstdint>

namespace echolux::igtl {

struct LinkStats {
    std::int64_t connected = 0;  // current number of programs
    std::int64_t volumes = 0;    // volumes sent, counted per program
    std::int64_t left_out = 0;   // replaced by a newer one before they were sent
    std::int64_t bytes = 0;      // all bytes sent
    std::int64_t requests = 0;   // requests received
    std::int64_t refused = 0;    // connections that were closed: invalid messages, or no room
};

}  // namespace echolux::igtl
