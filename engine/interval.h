// Half-open range [begin, end) of rows, B-scans or bins.
#pragma once

#include <cstdint>

namespace echolux {

struct Interval {
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

}  // namespace echolux
