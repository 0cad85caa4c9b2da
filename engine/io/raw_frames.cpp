#include "engine/io/raw_frames.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace echolux {
namespace {

// Smaller B-scans and files are not searched for headers.
constexpr std::int64_t min_lines = 8, min_frames = 2;
constexpr std::array<std::int64_t, 9> usual_offsets{0, 32, 64, 128, 256, 512, 1024, 2048, 4096};

// Headers of 8 to 4096 bytes: a power of two, or a multiple of 4 up to 512.
bool is_usual(std::int64_t header_bytes) {
    constexpr std::int64_t longest = 4096;
    const bool is_power = (header_bytes & (header_bytes - 1)) == 0;
    return header_bytes >= 8 && header_bytes <= longest && (is_power || (header_bytes <= 512 && header_bytes % 4 == 0));
}

// Returns the mean of four lines from sample `first`; empty if they exceed the samples.
std::vector<double> mean_lines(const std::vector<float>& samples, std::int64_t first, std::int64_t line) {
    constexpr std::int64_t lines = 4;
    if (first < 0 || first + lines * line > std::ssize(samples)) return {};
    std::vector<double> mean(static_cast<std::size_t>(line));
    for (std::int64_t i = 0; i < lines * line; ++i) {
        mean[static_cast<std::size_t>(i % line)] += static_cast<double>(samples[static_cast<std::size_t>(first + i)]);
    }
    return mean;
}

// Returns Pearson's correlation; 0 if one of the vectors is constant.
double correlation(const std::vector<double>& a, const std::vector<double>& b) {
    const auto n = static_cast<double>(a.size());
    double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        ma += a[i] / n;
        mb += b[i] / n;
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
        aa += (a[i] - ma) * (a[i] - ma);
        bb += (b[i] - mb) * (b[i] - mb);
        ab += (a[i] - ma) * (b[i] - mb);
    }
    return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

// Headers are largely identical in all frames, parts of lines are not.
bool repeats_headers(const std::vector<float>& samples, std::int64_t sample_bytes, std::int64_t line,
                     const RawFrames& frames) {
    const std::int64_t header = frames.header_bytes / sample_bytes, frame = header + frames.lines * line;
    const auto first = samples.begin() + frames.offset_bytes / sample_bytes;
    std::int64_t equal = 0, all = 0;
    for (std::int64_t f = 1; f < frames.frames && (samples.end() - first) >= f * frame + header; ++f) {
        for (std::int64_t i = 0; i < header; ++i) equal += first[i] == first[f * frame + i];
        all += header;
    }
    return 2 * equal > all;
}

// Returns the mean correlation of lines at several positions of many frames with the first line of the file.
double alignment(const std::vector<float>& samples, std::int64_t sample_bytes, std::int64_t line,
                 const RawFrames& frames) {
    // Several positions: a header of half a line, twice, is a whole line and would be missed.
    constexpr std::int64_t max_frames = 48, places = 8;
    const std::int64_t frame = (frames.header_bytes / sample_bytes) + frames.lines * line;
    const std::int64_t start = (frames.offset_bytes + frames.header_bytes) / sample_bytes;
    const std::vector<double> reference = mean_lines(samples, start, line);
    if (reference.empty()) return 0;
    const std::int64_t whole = std::min(frames.frames, (std::ssize(samples) - start) / frame);
    double sum = 0, count = 0;
    // Odd, because every second frame would miss headers of half a line.
    const std::int64_t step = whole / max_frames | 1;
    for (std::int64_t f = 0; f < whole; f += step) {
        for (std::int64_t place = 0; place <= places; ++place) {
            const std::int64_t l = place * (frames.lines - 4) / places;
            const std::vector<double> there = mean_lines(samples, start + f * frame + l * line, line);
            if (there.empty()) continue;
            sum += correlation(reference, there);
            ++count;
        }
    }
    return count > places * min_frames ? sum / count : 0;
}

}  // namespace

FrameSizes::FrameSizes(std::int64_t file_bytes) {
    constexpr std::int64_t max_frames = 100'000;
    for (const std::int64_t offset : usual_offsets) {
        const std::int64_t rest = file_bytes - offset;
        for (std::int64_t frames = min_frames; frames <= std::min(max_frames, rest / 1024); ++frames) {
            if (rest % frames == 0) divisions_.push_back({offset, rest / frames, frames});
        }
    }
}

std::vector<RawFrames> FrameSizes::with_lines_of(std::int64_t line_bytes) const {
    std::vector<RawFrames> found;
    for (const Division& division : divisions_) {
        const std::int64_t lines = division.frame_bytes / line_bytes, header = division.frame_bytes % line_bytes;
        if (lines >= min_lines && is_usual(header)) {
            found.push_back({division.offset_bytes, header, lines, division.frames});
        }
    }
    return found;
}

// Chooses the division with repeated headers that has the best alignment. It must be better than without
// headers.
std::optional<RawFrames> frames_in(const std::vector<float>& samples, std::int64_t sample_bytes, std::int64_t line,
                                   std::int64_t plain_offset_bytes, const FrameSizes& sizes) {
    constexpr double better = 0.01;
    std::optional<RawFrames> best;
    double best_alignment = 0;
    for (const RawFrames& frames : sizes.with_lines_of(line * sample_bytes)) {
        if (frames.header_bytes % sample_bytes != 0 || frames.offset_bytes % sample_bytes != 0) continue;
        if (!repeats_headers(samples, sample_bytes, line, frames)) continue;
        const double aligned = alignment(samples, sample_bytes, line, frames);
        if (best && aligned <= best_alignment) continue;
        best = frames;
        best_alignment = aligned;
    }
    if (!best) return std::nullopt;
    const RawFrames plain{plain_offset_bytes, 0, best->lines, best->frames};
    if (best_alignment < alignment(samples, sample_bytes, line, plain) + better) return std::nullopt;
    return best;
}

}  // namespace echolux
