// Layout of the repeats at one slow-axis position: which lines are compared with each other, in temporal order. Lines
// are counted as recorded, [b_repeats][a_scans][a_repeats], from the first line of the position.
#pragma once

#include <cstdint>

#include "compute/host_device.h"

namespace echolux {

// Counts and strides of repeats.
struct Repeats {
    std::int64_t count = 2;          // per series, at least 2
    std::int64_t step = 1;           // lines between consecutive repeats
    std::int64_t series = 1;         // repeats of different series are not compared
    std::int64_t series_step = 0;    // lines between consecutive series
    std::int64_t position_step = 1;  // lines between consecutive A-scan positions
    std::int64_t positions = 1;      // positions with repeats; later positions use the last one

    ECHOLUX_HD std::int64_t pairs() const { return series * (count - 1); }

    // Returns the line of a repeat, from the first line of the slow position.
    ECHOLUX_HD std::int64_t line(std::int64_t position, std::int64_t in_series, std::int64_t repeat) const {
        const std::int64_t known = position < positions ? position : positions - 1;
        return known * position_step + in_series * series_step + repeat * step;
    }
};

}  // namespace echolux
