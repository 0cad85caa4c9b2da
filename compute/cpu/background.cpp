#include "compute/cpu/background.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "compute/indexing.h"
#include "compute/missing_voxels.h"
#include "compute/parallel_for.h"
#include "compute/steps/sample.h"

namespace echolux::cpu {

// Returns the median as defined by NumPy: the mean of the middle two for an even count. Reorders `values`.
inline double median_of(float* values, std::int64_t count) {
    float* middle = values + count / 2;
    std::nth_element(values, middle, values + count);
    if (count % 2 == 1) return static_cast<double>(*middle);
    return (static_cast<double>(*middle) + static_cast<double>(*std::max_element(values, middle))) / 2;
}

namespace {

// Groups of lines are summed in registers before they are added to memory.
constexpr std::int64_t group = 8;

template <class Sample>
using GroupSum =
    std::conditional_t<std::is_same_v<Sample, float>, double,
                       std::conditional_t<std::is_same_v<Sample, std::uint32_t>, std::int64_t, std::int32_t>>;

// Adds `count` lines to `sum` [samples]. Partial sums of integer samples are exact in 32 or 64 bits.
template <std::int64_t count, class Read>
void add_lines(const Read& read, const std::byte* lines, std::int64_t line_bytes, std::int64_t samples, double* sum) {
    using Sum = GroupSum<decltype(read(lines, 0))>;
    for (std::int64_t p = 0; p < samples; ++p) {
        Sum part = 0;
        for (std::int64_t l = 0; l < count; ++l) part += static_cast<Sum>(read(lines + l * line_bytes, p));
        sum[p] += static_cast<double>(part);
    }
}

}  // namespace

FrameBackground::FrameBackground(Background mode, const LineFormat& lines, const ScanGeometry& geometry,
                                 const Calibration& calibration, double running_alpha, std::int64_t max_frames)
    : mode_(mode), lines_(lines), lines_per_frame_(geometry.lines_per_b_scan()), frames_per_b_scan_(geometry.b_repeats),
      running_alpha_(running_alpha) {
    const auto samples = index(lines.samples());
    const bool each = found_for_each_frame(mode);
    const std::size_t frames = each ? index(max_frames) : 1;
    whole_.assign(frames * samples, 0.0f);
    rest_.assign(frames * samples, 0.0f);
    if (mode == Background::stored) split(calibration.background.data(), lines.samples());
    if (each) found_.resize(whole_.size());
    if (mode == Background::running) running_.resize(samples);
    if (mode == Background::median) columns_.resize(frames * index(lines_per_frame_));
}

BackgroundLine FrameBackground::of(std::int64_t frame) const {
    const std::int64_t first = found_for_each_frame(mode_) ? frame * lines_.samples() : 0;
    return {whole_.data() + first, rest_.data() + first};
}

void FrameBackground::split(const double* background, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        const SplitBackground parts(background[i]);
        whole_[index(i)] = parts.whole;
        rest_[index(i)] = parts.rest;
    }
}

void FrameBackground::find(const Block& block, const std::vector<std::uint8_t>& invalid) {
    if (!found_for_each_frame(mode_)) return;
    if (is_missing(block)) {
        is_open_ |= block.first_b_scan == 0;
        return;
    }
    const std::int64_t frames = block.b_scans * frames_per_b_scan_;
    const std::int64_t samples = lines_.samples();
    parallel_for(0, frames, [&](std::int64_t f) {
        const Frame frame{block.data + frame_offset(block.frames, f, lines_per_frame_ * lines_.line_bytes()),
                          invalid.empty() ? nullptr : invalid.data() + f * lines_per_frame_};
        double* found = found_.data() + f * samples;
        if (mode_ == Background::median) {
            find_median(frame, found, columns_.data() + f * lines_per_frame_);
        } else {
            find_mean(frame, found);
        }
    });
    if (mode_ == Background::running) blend(block, frames, invalid);
    split(found_.data(), frames * samples);
}

// Doubles hold integer sums below 2^53 exactly, more than any B-scan reaches.
void FrameBackground::find_mean(const Frame& frame, double* mean) const {
    const std::int64_t samples = lines_.samples();
    const std::int64_t line_bytes = lines_.line_bytes();
    std::int64_t count = lines_per_frame_;
    std::fill_n(mean, samples, 0.0);
    lines_.with_reader([&](const auto& read) {
        std::int64_t line = 0;
        for (; frame.invalid == nullptr && line + group <= lines_per_frame_; line += group)
            add_lines<group>(read, frame.lines + line * line_bytes, line_bytes, samples, mean);
        for (; line < lines_per_frame_; ++line) {
            if (frame.skips(line)) {
                --count;
            } else {
                add_lines<1>(read, frame.lines + line * line_bytes, line_bytes, samples, mean);
            }
        }
    });
    if (count > 0) std::for_each(mean, mean + samples, [count](double& sum) { sum /= static_cast<double>(count); });
}

void FrameBackground::find_median(const Frame& frame, double* median, float* column) const {
    lines_.with_reader([&](const auto& read) {
        for (std::int64_t p = 0; p < lines_.samples(); ++p) {
            std::int64_t count = 0;
            for (std::int64_t l = 0; l < lines_per_frame_; ++l) {
                if (!frame.skips(l))
                    column[count++] = static_cast<float>(read(frame.lines + l * lines_.line_bytes(), p));
            }
            median[p] = count > 0 ? median_of(column, count) : 0;
        }
    });
}

bool FrameBackground::is_without_lines(const std::vector<std::uint8_t>& invalid, std::int64_t frame) const {
    if (invalid.empty()) return false;
    const auto* flags = invalid.data() + frame * lines_per_frame_;
    return std::all_of(flags, flags + lines_per_frame_, [](std::uint8_t flag) { return flag != 0; });
}

// Processes frames in order. Restarts with each volume, so that volumes are independent. Frames without a valid line
// change nothing.
void FrameBackground::blend(const Block& block, std::int64_t frames, const std::vector<std::uint8_t>& invalid) {
    const std::int64_t samples = lines_.samples();
    is_open_ |= block.first_b_scan == 0;
    for (std::int64_t f = 0; f < frames; ++f) {
        if (is_without_lines(invalid, f)) continue;
        const RunningMean step{std::exchange(is_open_, false) ? 1 : running_alpha_};
        double* found = found_.data() + f * samples;
        for (std::int64_t p = 0; p < samples; ++p) {
            double& running = running_[index(p)];
            running = step(running, found[p]);
            found[p] = running;
        }
    }
}

namespace {

// One depth bin over the lines of a B-scan.
struct Column {
    std::complex<float>* first;
    std::int64_t stride;
    const std::uint8_t* invalid;  // flags of lines to leave out, or null

    std::complex<float>& operator[](std::int64_t line) const { return first[line * stride]; }

    // Calls use(bin) for each line of [begin, end) that counts. Returns their number.
    template <class Use>
    std::int64_t each(std::int64_t begin, std::int64_t end, const Use& use) const {
        std::int64_t count = 0;
        for (std::int64_t l = begin; l < end; ++l) {
            if (invalid != nullptr && invalid[l] != 0) continue;
            use((*this)[l]);
            ++count;
        }
        return count;
    }
};

// Median of real and imaginary parts separately. `column` is scratch memory for `lines` floats.
std::complex<float> median_pattern(const Column& bins, std::int64_t lines, float* column) {
    float* next = column;
    const std::int64_t count = bins.each(0, lines, [&](const std::complex<float>& bin) { *next++ = bin.real(); });
    if (count == 0) return {};
    const double re = median_of(column, count);
    next = column;
    bins.each(0, lines, [&](const std::complex<float>& bin) { *next++ = bin.imag(); });
    return {static_cast<float>(re), static_cast<float>(median_of(column, count))};
}

// Returns the mean of the segment with the smallest variance.
std::complex<float> min_variant_mean(const Column& bins, std::int64_t lines, std::int64_t segments) {
    std::complex<double> best;
    double min = std::numeric_limits<double>::infinity();
    for (std::int64_t s = 0; s < segments; ++s) {
        const std::int64_t begin = lines * s / segments;
        const std::int64_t end = lines * (s + 1) / segments;
        std::complex<double> mean;
        const auto count = static_cast<double>(
            bins.each(begin, end, [&](const std::complex<float>& bin) { mean += std::complex<double>(bin); }));
        if (count == 0) continue;
        mean /= count;
        double variance = 0;
        bins.each(begin, end,
                  [&](const std::complex<float>& bin) { variance += std::norm(std::complex<double>(bin) - mean); });
        variance /= count;
        if (variance < min) {
            min = variance;
            best = mean;
        }
    }
    return std::complex<float>(best);
}

}  // namespace

void remove_fixed_pattern(FixedPattern mode, std::int64_t segments, std::complex<float>* b_scan, std::int64_t lines,
                          std::int64_t depth, std::int64_t z, float* column, const std::uint8_t* invalid) {
    const Column bins{b_scan + z, depth, invalid};
    const std::complex<float> pattern =
        mode == FixedPattern::median ? median_pattern(bins, lines, column) : min_variant_mean(bins, lines, segments);
    for (std::int64_t l = 0; l < lines; ++l) bins[l] -= pattern;
}

}  // namespace echolux::cpu
