// Blue noise: numbers evenly spread over 0 to 1, any few of which near each other are too. Repeats without a seam.
// R. Ulichney, "The void-and-cluster method for dither array generation", Proc. SPIE 1913, 1993.
#pragma once

#include <vector>

namespace echolux {

// edge * edge numbers, row by row: each of (i + 0.5) / edge^2 once, the same on every machine. `edge`: a power of two.
std::vector<float> blue_noise(int edge);

}  // namespace echolux
