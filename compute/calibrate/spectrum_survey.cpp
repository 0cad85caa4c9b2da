#include "compute/calibrate/spectrum_survey.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/indexing.h"

namespace echolux {

// The number of stored bits, less the sign bit and the shift, limited by the mask.
std::optional<double> full_scale(const RawFormat& format) {
    if (format.sample_format == SampleFormat::f32) return std::nullopt;
    const bool has_sign = format.sample_format == SampleFormat::i16;
    const std::int64_t stored = sample_bits(format.sample_format) - (has_sign ? 1 : 0) - format.shift;
    const bool is_masked = format.bits > 0 && !has_sign;
    return std::ldexp(1.0, static_cast<int>(is_masked ? std::min(format.bits, stored) : stored)) - 1;
}

std::int64_t lines_of(const Block& block, const ScanGeometry& geometry) {
    return block.b_scans * geometry.b_repeats * geometry.lines_per_b_scan();
}

const std::byte* line_at(const Block& block, const RawFormat& format, const ScanGeometry& geometry, std::int64_t line) {
    const std::int64_t lines = geometry.lines_per_b_scan(), bytes = line_bytes(format, geometry);
    return block.data + frame_offset(block.frames, line / lines, lines * bytes) + line % lines * bytes;
}

SpectrumSurvey::SpectrumSurvey(const RawFormat& format, const ScanGeometry& geometry)
    : format_(format), geometry_(geometry), reader_(format, geometry), full_scale_(full_scale(format)),
      sum_(index(geometry.samples), 0.0), min_(sum_.size(), std::numeric_limits<double>::max()),
      max_(sum_.size(), std::numeric_limits<double>::lowest()) {}

void SpectrumSurvey::add(const Block& block, const LineRange& range) {
    const double full = full_scale_.value_or(std::numeric_limits<double>::max());
    reader_.with_reader([&](const auto& read) {
        for (std::int64_t line = range.first; line < range.first + range.count; ++line) {
            const std::byte* samples = line_at(block, format_, geometry_, line);
            for (std::size_t p = 0; p < sum_.size(); ++p) {
                const auto value = static_cast<double>(read(samples, static_cast<std::int64_t>(p)));
                sum_[p] += value;
                min_[p] = std::min(min_[p], value);
                max_[p] = std::max(max_[p], value);
                clipped_ += value >= full ? 1 : 0;
            }
        }
    });
    lines_ += range.count;
}

std::vector<double> SpectrumSurvey::mean() const {
    std::vector<double> mean = sum_;
    for (double& value : mean) value /= static_cast<double>(lines_);
    return mean;
}

}  // namespace echolux
