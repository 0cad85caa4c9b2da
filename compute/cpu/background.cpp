#include "compute/cpu/background.h"

#include <algorithm>
#include <type_traits>

#include "compute/cpu/median.h"
#include "compute/parallel_for.h"
#include "compute/steps/sample.h"

namespace echolux::cpu {
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
    const auto samples = static_cast<std::size_t>(lines.samples());
    const bool each = found_for_each_frame(mode);
    const std::size_t frames = each ? static_cast<std::size_t>(max_frames) : 1;
    whole_.assign(frames * samples, 0.0f);
    rest_.assign(frames * samples, 0.0f);
    if (mode == Background::stored) split(calibration.background.data(), lines.samples());
    if (each) found_.resize(whole_.size());
    if (mode == Background::running) running_.resize(samples);
    if (mode == Background::median) columns_.resize(frames * static_cast<std::size_t>(lines_per_frame_));
}

BackgroundLine FrameBackground::of(std::int64_t frame) const {
    const std::int64_t first = found_for_each_frame(mode_) ? frame * lines_.samples() : 0;
    return {whole_.data() + first, rest_.data() + first};
}

void FrameBackground::split(const double* background, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        const SplitBackground parts(background[i]);
        whole_[static_cast<std::size_t>(i)] = parts.whole;
        rest_[static_cast<std::size_t>(i)] = parts.rest;
    }
}

void FrameBackground::find(const Block& block) {
    if (!found_for_each_frame(mode_)) return;
    const std::int64_t frames = block.b_scans * frames_per_b_scan_;
    const std::int64_t samples = lines_.samples();
    parallel_for(0, frames, [&](std::int64_t f) {
        const std::byte* frame = block.data + frame_offset(block.frames, f, lines_per_frame_ * lines_.line_bytes());
        double* found = found_.data() + f * samples;
        if (mode_ == Background::median) {
            find_median(frame, found, columns_.data() + f * lines_per_frame_);
        } else {
            find_mean(frame, found);
        }
    });
    if (mode_ == Background::running) blend(block, frames);
    split(found_.data(), frames * samples);
}

// Doubles hold integer sums below 2^53 exactly, more than any B-scan reaches.
void FrameBackground::find_mean(const std::byte* frame, double* mean) const {
    const std::int64_t samples = lines_.samples();
    const std::int64_t line_bytes = lines_.line_bytes();
    std::fill_n(mean, samples, 0.0);
    lines_.with_reader([&](const auto& read) {
        std::int64_t line = 0;
        for (; line + group <= lines_per_frame_; line += group) {
            add_lines<group>(read, frame + line * line_bytes, line_bytes, samples, mean);
        }
        for (; line < lines_per_frame_; ++line) {
            add_lines<1>(read, frame + line * line_bytes, line_bytes, samples, mean);
        }
    });
    for (std::int64_t p = 0; p < samples; ++p) mean[p] /= static_cast<double>(lines_per_frame_);
}

void FrameBackground::find_median(const std::byte* frame, double* median, float* column) const {
    lines_.with_reader([&](const auto& read) {
        for (std::int64_t p = 0; p < lines_.samples(); ++p) {
            for (std::int64_t l = 0; l < lines_per_frame_; ++l) {
                column[l] = static_cast<float>(read(frame + l * lines_.line_bytes(), p));
            }
            median[p] = median_of(column, lines_per_frame_);
        }
    });
}

// Processes frames in order. Restarts with each volume, so that volumes are independent.
void FrameBackground::blend(const Block& block, std::int64_t frames) {
    const std::int64_t samples = lines_.samples();
    for (std::int64_t f = 0; f < frames; ++f) {
        const RunningMean step{block.first_b_scan == 0 && f == 0 ? 1 : running_alpha_};
        double* found = found_.data() + f * samples;
        for (std::int64_t p = 0; p < samples; ++p) {
            double& running = running_[static_cast<std::size_t>(p)];
            running = step(running, found[p]);
            found[p] = running;
        }
    }
}

}  // namespace echolux::cpu
