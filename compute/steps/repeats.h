// Which lines of one slow position are compared with each other: repeats at the same place, one after the other in
// time. Lines are counted as they were recorded, [b_repeats][a_scans][a_repeats], from the position's first on.
#pragma once

#include <cstdint>

#include "compute/host_device.h"

namespace echolux {

struct Repeats {
    std::int64_t count = 2;          // of a series, at least 2
    std::int64_t step = 1;           // lines from one look to the next
    std::int64_t series = 1;         // repeats of different series are not compared
    std::int64_t series_step = 0;    // lines from one series to the next
    std::int64_t position_step = 1;  // lines from one A-scan position to the next
    std::int64_t positions = 1;      // A-scan positions that have repeats; the others have those of the last

    ECHOLUX_HD std::int64_t pairs() const { return series * (count - 1); }

    ECHOLUX_HD std::int64_t line(std::int64_t position, std::int64_t in_series, std::int64_t repeat) const {
        const std::int64_t known = position < positions ? position : positions - 1;
        return known * position_step + in_series * series_step + repeat * step;
    }
};

}  // namespace echolux
