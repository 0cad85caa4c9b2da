// What is counted and timed beside the pictures, for people who watch.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/plan/describe.h"

namespace echolux {

// How often values occur in a volume.
struct Histogram {
    double low = 0;   // value where the first bin begins
    double high = 0;  // where the last one ends
    std::vector<std::uint32_t> counts;
    std::uint64_t serial = 0;  // another one whenever it was counted anew
};

// How often places of the plane of a transfer function over two axes occur in a volume; what lies outside is counted in
// the bins at the ends.
struct PlaneHistogram {
    ValueRange values, seconds;         // ends of the axes, which have as many bins each
    std::vector<std::uint32_t> counts;  // [second][value]
    std::uint64_t serial = 0;           // another one whenever it was counted anew
};

// What casting rays has cost the device, by its own clock.
struct CastStats {
    std::int64_t timed = 0;  // casts, of which a pass of a picture may take several
    double seconds = 0;      // of these together, with the bricks of volumes that are new
};

}  // namespace echolux
