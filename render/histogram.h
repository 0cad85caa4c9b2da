// How often values occur in a volume.
#pragma once

#include <cstdint>
#include <vector>

namespace echolux {

struct Histogram {
    double low = 0;   // value where the first bin begins
    double high = 0;  // where the last one ends
    std::vector<std::uint32_t> counts;
    std::uint64_t serial = 0;  // another one whenever it was counted anew
};

}  // namespace echolux
