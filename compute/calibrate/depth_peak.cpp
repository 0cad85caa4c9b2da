#include "compute/calibrate/depth_peak.h"

#include <algorithm>
#include <cmath>

#include "compute/indexing.h"

namespace echolux {
namespace {

// Returns the distance from `top` to where the profile falls below `level`, in direction `step`. Negative if it never
// does.
double distance_to(std::span<const double> profile, std::int64_t top, double level, std::int64_t step) {
    for (std::int64_t i = top; i + step >= 0 && i + step < std::ssize(profile); i += step) {
        const double inside = profile[index(i)], outside = profile[index(i + step)];
        if (outside < level) return static_cast<double>(std::abs(i - top)) + (inside - level) / (inside - outside);
    }
    return -1;
}

}  // namespace

DepthPeak strongest_peak(std::span<const double> profile, std::int64_t begin, std::int64_t end) {
    begin = std::clamp<std::int64_t>(begin, 0, std::ssize(profile));
    end = std::clamp<std::int64_t>(end, begin, std::ssize(profile));
    DepthPeak peak{static_cast<double>(begin), 0, 0};
    if (begin == end) return peak;
    const std::int64_t top = std::max_element(profile.begin() + begin, profile.begin() + end) - profile.begin();
    peak.bin = static_cast<double>(top);
    peak.height = profile[index(top)];
    if (peak.height <= 0) return peak;

    const bool has_neighbours = top > 0 && top + 1 < std::ssize(profile);
    if (has_neighbours && profile[index(top - 1)] > 0 && profile[index(top + 1)] > 0) {
        const double left = std::log(profile[index(top - 1)] / peak.height);
        const double right = std::log(profile[index(top + 1)] / peak.height);
        const double bend = left + right;
        const double shift = bend < 0 ? std::clamp((left - right) / (2 * bend), -1.0, 1.0) : 0;
        peak.bin += shift;
        peak.height *= std::exp((right - left) / 2 * shift + bend / 2 * shift * shift);
    }
    const double below = distance_to(profile, top, peak.height / 2, -1);
    const double above = distance_to(profile, top, peak.height / 2, 1);
    if (below >= 0 && above >= 0) peak.fwhm = below + above;
    return peak;
}

}  // namespace echolux
