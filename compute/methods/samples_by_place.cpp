#include "compute/methods/samples_by_place.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compute/indexing.h"

namespace echolux {

SamplesByPlace samples_by_place(const std::vector<double>& points) {
    const auto length =
        static_cast<double>(points.size());  // k_jitter moves the ends by at most a tenth of the spectrum
    SamplesByPlace all;
    for (std::size_t p = 0; p < points.size(); ++p) {
        if (points[p] >= -length && points[p] <= 2 * length) all.samples.push_back(static_cast<std::int32_t>(p));
    }
    std::ranges::stable_sort(all.samples, {}, [&](std::int32_t p) { return points[index(p)]; });
    for (const std::int32_t p : all.samples) all.points.push_back(points[index(p)]);
    if (all.points.empty()) return all;
    all.first_cell = static_cast<std::int64_t>(std::floor(all.points.front()));
    const auto end = static_cast<std::int64_t>(std::floor(all.points.back())) + 1;
    for (std::int64_t cell = all.first_cell; cell <= end; ++cell) {
        const auto first = std::ranges::lower_bound(all.points, static_cast<double>(cell));
        all.first_at.push_back(static_cast<std::int32_t>(first - all.points.begin()));
    }
    return all;
}

}  // namespace echolux
