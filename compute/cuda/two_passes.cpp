// Host side of transforms in two passes: their factors.
#include "compute/cuda/two_passes.h"

#include <cmath>
#include <numbers>

namespace echolux::cuda {

// exp(-2 pi i k c / n) for bin k of the first pass's transform c.
std::vector<float2> two_pass_twiddles(const TwoPassLength& length) {
    std::vector<float2> table;
    for (int bin = 0; bin < length.first.n; ++bin) {
        for (int c = 0; c < length.second.n; ++c) {
            const double angle = -2 * std::numbers::pi * (static_cast<double>(bin) * c / length.n());
            table.push_back({static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))});
        }
    }
    return table;
}

}  // namespace echolux::cuda
