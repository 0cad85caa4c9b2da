#include "compute/cpu/subtraction.h"

#include <algorithm>

#include "compute/cpu/four.h"
#include "compute/indexing.h"
#include "compute/steps/sample.h"

namespace echolux::cpu {

Subtraction::Subtraction(const LineFormat& format, std::int64_t rolling_width)
    : format_(format), rolling_width_(rolling_width) {
    if (rolling_width > 0) sums_.resize(index(format.samples() + 1));
}

ECHOLUX_WIDER void Subtraction::operator()(const RawLine& line, float* spectrum) {
    fetch_ahead(line.samples + format_.line_bytes());
    format_.with_reader([&](const auto& read) {
        const LessBackground less_background;
        for (std::int64_t p = 0; p < format_.samples(); ++p) {
            spectrum[p] = less_background(read(line.samples, p), line.background.whole[p], line.background.rest[p]);
        }
    });
    if (rolling_width_ > 0) subtract_rolling_mean(spectrum);
}

// Prefetches the next line of the block while this one is transformed, because hardware prefetchers stop at page
// boundaries. Prefetching past the last line is harmless.
void Subtraction::fetch_ahead(const std::byte* line) const {
    constexpr std::int64_t cache_line = 64;
    for (std::int64_t at = 0; at < format_.line_bytes(); at += cache_line) __builtin_prefetch(line + at, 0, 2);
}

// I[p] - mean(I[p - W + 1 .. p + W]), with the window clipped at the ends (docs/algorithms.md 2.2 f).
void Subtraction::subtract_rolling_mean(float* spectrum) {
    const std::int64_t samples = format_.samples();
    for (std::int64_t p = 0; p < samples; ++p) sums_[index(p + 1)] = sums_[index(p)] + static_cast<double>(spectrum[p]);
    for (std::int64_t p = 0; p < samples; ++p) {
        const std::int64_t first = std::max<std::int64_t>(0, p - rolling_width_ + 1);
        const std::int64_t last = std::min(samples, p + rolling_width_ + 1);
        const double mean = (sums_[index(last)] - sums_[index(first)]) / static_cast<double>(last - first);
        spectrum[p] = static_cast<float>(static_cast<double>(spectrum[p]) - mean);
    }
}

}  // namespace echolux::cpu
