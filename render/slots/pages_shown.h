// How much of a volume in pages a picture shows in full.
#pragma once

#include <cstdint>

namespace echolux {

// Pages that hold something to be seen, and those of them that are shown from the coarse level only.
struct PagesShown {
    std::int64_t needed = 0;
    std::int64_t coarse = 0;
};

}  // namespace echolux
