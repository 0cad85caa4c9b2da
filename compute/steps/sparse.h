// The steps of a sparse search (docs/algorithms.md 9), one depth bin at a time, and the rules that an A-scan follows.
#pragma once

#include "compute/steps/host_device.h"

namespace echolux {

// Soft threshold of a complex number: shortens it by `least`, to nothing where it is not longer. This factor does it.
ECHOLUX_HD inline float kept_by_threshold(float length, float least) {
    const float rest = length - least;
    return rest > 0 ? rest / length : 0;
}

// A bin other than the first stands for itself and its mirror image.
ECHOLUX_HD inline float share_of_norm(int bin) {
    return bin == 0 ? 1.0f : 2.0f;
}

}  // namespace echolux
