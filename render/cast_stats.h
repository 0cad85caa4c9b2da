// What casting rays has cost the device, by its own clock: for people who watch it.
#pragma once

#include <cstdint>

namespace echolux {

struct CastStats {
    std::int64_t timed = 0;  // casts, of which a pass of a picture may take several
    double seconds = 0;      // of these together, with the bricks of volumes that are new
};

}  // namespace echolux
