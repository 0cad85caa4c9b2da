#include "app/jobs/picture_quality.h"

#include <algorithm>
#include <cmath>

namespace echolux {

PictureQuality quality_of(const Picture& picture) {
    const auto channels = static_cast<std::size_t>(picture.channels);
    std::vector<int> grays;
    for (std::size_t i = 0; i + channels <= picture.pixels.size(); i += channels) {
        const std::uint8_t* p = picture.pixels.data() + i;
        const double gray = channels == 1 ? p[0] : 0.2126 * p[0] + 0.7152 * p[1] + 0.0722 * p[2];
        grays.push_back(static_cast<int>(std::lround(gray)));
    }
    if (grays.empty()) return {};
    std::sort(grays.begin(), grays.end());
    const auto count = static_cast<double>(grays.size());
    const auto clipped = std::count_if(grays.begin(), grays.end(), [](int gray) { return gray == 0 || gray == 255; });
    const auto at = [&](double share) { return grays[static_cast<std::size_t>(share * (count - 1))]; };
    return {static_cast<double>(clipped) / count, (at(0.999) - at(0.001)) / 255.0};
}

}  // namespace echolux
