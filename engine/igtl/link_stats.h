// What went over a link of OpenIGTLink, for reports.
#pragma once

#include <cstdint>

namespace echolux::igtl {

struct LinkStats {
    std::int64_t connected = 0;  // now
    std::int64_t volumes = 0;    // that were sent, counted for each program
    std::int64_t left_out = 0;   // a newer one was there before they could be sent
    std::int64_t bytes = 0;      // of all that was sent
    std::int64_t requests = 0;   //
    std::int64_t refused = 0;    // lines that were cut, and programs for which there was no room
};

}  // namespace echolux::igtl
