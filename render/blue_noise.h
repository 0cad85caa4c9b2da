// Blue noise: numbers uniform in [0, 1] whose neighbours are also evenly distributed. Tiles seamlessly. R. Ulichney,
// "The void-and-cluster method for dither array generation", Proc. SPIE 1913, 1993.
#pragma once

#include <vector>

namespace echolux {

// Returns edge * edge numbers, row by row: each (i + 0.5) / edge^2 exactly once. The result is the same on every
// machine. `edge` must be a power of two.
std::vector<float> blue_noise(int edge);

}  // namespace echolux
