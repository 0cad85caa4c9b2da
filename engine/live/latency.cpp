#include "engine/live/latency.h"

#include <algorithm>
#include <cmath>

namespace echolux {

void Latency::add(double seconds) {
    const double bin = std::log(std::max(seconds, min_s) / min_s) / std::log(ratio);
    ++counts_[std::min(static_cast<std::size_t>(bin), bins - 1)];
    ++count_;
    max_s_ = std::max(max_s_, seconds);
}

double Latency::percentile_s(double share) const {
    const auto wanted = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count_)));
    if (count_ == 0 || wanted <= 0) return 0;
    std::int64_t seen = 0;
    for (std::size_t i = 0; i + 1 < bins; ++i) {
        seen += counts_[i];
        if (seen >= wanted) return std::min(min_s * std::pow(ratio, static_cast<double>(i + 1)), max_s_);
    }
    return max_s_;
}

}  // namespace echolux
