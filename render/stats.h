// Statistics and timings of rendering.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/plan/describe.h"

namespace echolux {

// Histogram of a volume's values.
struct Histogram {
    double low = 0;   // start of the first bin
    double high = 0;  // end of the last bin
    std::vector<std::uint32_t> counts;
    std::uint64_t serial = 0;  // changes with each new count
};

// Histogram of a volume over both axes of a transfer function. Values outside are counted in the outermost bins.
struct PlaneHistogram {
    ValueRange values, seconds;         // ranges of the axes, with the same number of bins
    std::vector<std::uint32_t> counts;  // [second][value]
    std::uint64_t serial = 0;           // changes with each new count
};

// Device time of ray casting.
struct CastStats {
    std::int64_t timed = 0;  // number of casts; a pass may take several
    double seconds = 0;      // their total, including bricks of new volumes
};

}  // namespace echolux
