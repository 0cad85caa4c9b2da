// Blocks whose spectra are missing.
#pragma once

#include "compute/place.h"

namespace echolux {

// A block without data represents B-scans whose spectra were lost.
inline bool is_missing(const Block& block) {
    return block.data == nullptr && block.bytes == 0;
}

}  // namespace echolux
