#include "engine/layers/robust_surface.h"

#include "compute/parallel_for.h"
#include "compute/steps/coarse_layers.h"

namespace echolux {

std::vector<float> without_outliers(const std::vector<float>& map, const MapSize& size, std::int64_t reach,
                                    double limit) {
    std::vector<float> out(map.size());
    const RobustSurface surface{map.data(), size.a_scans, size.b_scans, reach, limit};
    parallel_for(0, size.b_scans, [&](std::int64_t b) {
        for (std::int64_t a = 0; a < size.a_scans; ++a)
            out[static_cast<std::size_t>(b * size.a_scans + a)] = surface.without_outlier(b, a);
    });
    return out;
}

}  // namespace echolux
