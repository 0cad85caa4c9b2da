// Kernels for frame backgrounds and fixed patterns: exact sums, medians by counting, and the running mean in frame
// order.
#include "compute/cuda/background.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "compute/cuda/launch.h"
#include "compute/cuda/line_pairs.h"
#include "compute/cuda/memory.h"
#include "compute/indexing.h"
#include "compute/steps/sample.h"

namespace echolux::cuda {

// ---- Medians without moving values: finds the element of a rank bit by bit, by counting smaller ones.

// Maps floats to unsigned integers with the same order.
__device__ inline std::uint32_t key_of(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ inline float value_of(std::uint32_t key) {
    return std::bit_cast<float>(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

// Returns the median of value(0) .. value(count - 1) as defined by NumPy: the mean of the middle two for an even count.
template <class Value>
__device__ double median_of(const Value& value, std::int64_t count) {
    const std::int64_t rank = count / 2;
    std::uint32_t middle = 0;
    for (int bit = 31; bit >= 0; --bit) {
        const std::uint32_t candidate = middle | 1u << bit;
        std::int64_t less = 0;
        for (std::int64_t i = 0; i < count; ++i) less += key_of(value(i)) < candidate;
        if (less <= rank) middle = candidate;
    }
    if (count % 2 == 1) return static_cast<double>(value_of(middle));
    // The value of the rank below: the largest smaller value, or an equal one if fewer than `rank` values are smaller.
    std::int64_t less = 0;
    std::uint32_t greatest = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint32_t key = key_of(value(i));
        if (key >= middle) continue;
        ++less;
        greatest = key > greatest ? key : greatest;
    }
    const std::uint32_t lower = less == rank ? greatest : middle;
    return (static_cast<double>(value_of(middle)) + static_cast<double>(value_of(lower))) / 2;
}

// Background of each sample of each frame, in double and in the form that kernels subtract.
struct BackgroundBuffers {
    double* values;
    float* whole;
    float* rest;

    __device__ void store(std::int64_t i, double value) const {
        const SplitBackground parts(value);
        values[i] = value;
        whole[i] = parts.whole;
        rest[i] = parts.rest;
    }
};

namespace {

struct Frames {
    const std::byte* raw;
    std::int64_t line_bytes;
    std::int64_t lines;  // per frame
    std::int64_t samples;
};

constexpr std::int64_t lines_of_a_chunk = 64;  // summed by one thread
constexpr std::int64_t group = 8;              // real lines summed before they are added to the total
constexpr std::int64_t busy = 16384;           // columns that occupy a GPU with one thread each

template <class Read>
constexpr bool is_real = std::is_same_v<SampleOf<Read>, float>;

// Adds to sums[frame][sample], initially zero. Each thread handles one sample of a chunk of lines.
template <class Read>
__global__ void add_integers(Read read, Frames frames, std::int64_t chunks, std::int64_t columns,
                             unsigned long long* sums) {
    const std::int64_t chunk = blockIdx.x / columns % chunks, frame = blockIdx.x / columns / chunks;
    const std::int64_t p = blockIdx.x % columns * blockDim.x + threadIdx.x;
    if (p >= frames.samples) return;
    const std::int64_t first = chunk * lines_of_a_chunk;
    const std::int64_t end = min(first + lines_of_a_chunk, frames.lines);
    const std::byte* line = frames.raw + (frame * frames.lines + first) * frames.line_bytes;
    std::int64_t sum = 0;
#pragma unroll 8
    for (std::int64_t l = first; l < end; ++l, line += frames.line_bytes) {
        sum += static_cast<std::int64_t>(read(line, p));
    }
    // Unsigned sums modulo 2^64 preserve signs.
    atomicAdd(sums + frame * frames.samples + p, static_cast<unsigned long long>(sum));
}

// Variant for lines of whole words: each thread handles both samples of a word. Half as many loads of twice the size,
// so that memory bandwidth is the limit.
__global__ void add_words(Frames frames, std::int64_t chunks, std::int64_t columns, unsigned long long* sums) {
    static_assert(lines_of_a_chunk <= 65536, "sums of 16 bits fit into 32");
    const std::int64_t chunk = blockIdx.x / columns % chunks, frame = blockIdx.x / columns / chunks;
    const std::int64_t p = blockIdx.x % columns * blockDim.x + threadIdx.x, words = frames.line_bytes / 4;
    if (2 * p >= frames.samples) return;
    const std::int64_t first = chunk * lines_of_a_chunk;
    const std::int64_t end = min(first + lines_of_a_chunk, frames.lines);
    const auto* word = reinterpret_cast<const std::uint32_t*>(frames.raw) + (frame * frames.lines + first) * words + p;
    unsigned low = 0, high = 0;
#pragma unroll 16
    for (std::int64_t l = first; l < end; ++l, word += words) {
        low += *word & 0xffffu;
        high += *word >> 16;
    }
    atomicAdd(sums + frame * frames.samples + 2 * p, static_cast<unsigned long long>(low));
    atomicAdd(sums + frame * frames.samples + 2 * p + 1, static_cast<unsigned long long>(high));
}

// Each thread handles one sample of all lines of a frame. Real samples are added in groups, in the CPU's order.
template <class Read>
__global__ void means(Read read, Frames frames, std::int64_t count, BackgroundBuffers found) {
    const std::int64_t i = element();
    if (i >= count) return;
    const std::int64_t frame = i / frames.samples, p = i % frames.samples;
    const std::byte* line = frames.raw + frame * frames.lines * frames.line_bytes;
    if constexpr (is_real<Read>) {
        double sum = 0;
        std::int64_t l = 0;
        for (; l + group <= frames.lines; l += group) {
            double part = 0;
            for (std::int64_t m = 0; m < group; ++m, line += frames.line_bytes) {
                part += static_cast<double>(read(line, p));
            }
            sum += part;
        }
        for (; l < frames.lines; ++l, line += frames.line_bytes) sum += static_cast<double>(read(line, p));
        found.store(i, sum / static_cast<double>(frames.lines));
    } else {
        std::int64_t sum = 0;
#pragma unroll 16
        for (std::int64_t l = 0; l < frames.lines; ++l, line += frames.line_bytes) {
            sum += static_cast<std::int64_t>(read(line, p));
        }
        found.store(i, static_cast<double>(sum) / static_cast<double>(frames.lines));
    }
}

// Converts sums to means in place.
__global__ void mean_of_integers(BackgroundBuffers found, std::int64_t count, double lines) {
    const std::int64_t i = element();
    if (i >= count) return;
    found.store(i, static_cast<double>(reinterpret_cast<const long long*>(found.values)[i]) / lines);
}

template <class Read>
__global__ void medians(Read read, Frames frames, std::int64_t count, BackgroundBuffers found) {
    const std::int64_t i = element();
    if (i >= count) return;
    const std::int64_t frame = i / frames.samples, p = i % frames.samples;
    const std::byte* first = frames.raw + frame * frames.lines * frames.line_bytes;
    found.store(i, median_of([&](std::int64_t l) { return static_cast<float>(read(first + l * frames.line_bytes, p)); },
                             frames.lines));
}

// Each thread handles one sample of all frames, in their order.
__global__ void blend_frames(double* running, BackgroundBuffers found, std::int64_t samples, std::int64_t frames,
                             double alpha, bool volume_starts) {
    const std::int64_t p = element();
    if (p >= samples) return;
    double mean = running[p];
    for (std::int64_t f = 0; f < frames; ++f) {
        const RunningMean step{volume_starts && f == 0 ? 1 : alpha};
        mean = step(mean, found.values[f * samples + p]);
        found.store(f * samples + p, mean);
    }
    running[p] = mean;
}

}  // namespace

FrameBackground::FrameBackground(Background mode, const LineFormat& lines, const ScanGeometry& geometry,
                                 const Calibration& calibration, double running_alpha, std::int64_t max_frames,
                                 RunningState* running)
    : mode_(mode), lines_(lines), lines_per_frame_(geometry.lines_per_b_scan()), running_alpha_(running_alpha),
      running_(running) {
    const std::int64_t samples = lines.samples();
    if (found_for_each_frame(mode)) {
        whole_ = DeviceBuffer(max_frames * samples * std::int64_t{sizeof(float)});
        rest_ = DeviceBuffer(max_frames * samples * std::int64_t{sizeof(float)});
        found_ = DeviceBuffer(max_frames * samples * std::int64_t{sizeof(double)});
        return;
    }
    std::vector<float> whole(index(samples), 0.0f), rest = whole;
    for (std::size_t p = 0; mode == Background::stored && p < whole.size(); ++p) {
        const SplitBackground parts(calibration.background[p]);
        whole[p] = parts.whole;
        rest[p] = parts.rest;
    }
    whole_ = uploaded(whole);
    rest_ = uploaded(rest);
}

BackgroundBuffers FrameBackground::found() const {
    return {found_.as<double>(), whole_.as<float>(), rest_.as<float>()};
}

DeviceBackground FrameBackground::rows() const {
    const std::int64_t lines_of_a_row = found_for_each_frame(mode_) ? lines_per_frame_ : 0;
    return {whole_.as<float>(), rest_.as<float>(), lines_of_a_row, lines_.samples(), 0};
}

void FrameBackground::find(cudaStream_t stream, const std::byte* raw, std::int64_t frames, bool volume_starts) {
    if (!found_for_each_frame(mode_)) return;
    if (mode_ == Background::median) {
        find_median(stream, raw, frames);
    } else {
        find_mean(stream, raw, frames);
    }
    if (mode_ == Background::running) blend(stream, frames, volume_starts);
}

void FrameBackground::find_mean(cudaStream_t stream, const std::byte* raw, std::int64_t frames) {
    const Frames of{raw, lines_.line_bytes(), lines_per_frame_, lines_.samples()};
    const std::int64_t count = frames * of.samples;
    const std::int64_t chunks = (of.lines + lines_of_a_chunk - 1) / lines_of_a_chunk;
    // Calls add(columns, blocks, sums) with enough blocks to add one chunk of lines each.
    const auto by_chunks = [&](std::int64_t threads_of_a_frame, const auto& add) {
        const std::int64_t columns = blocks_for(threads_of_a_frame);
        checked(cudaMemsetAsync(found_.data(), 0, index(count) * sizeof(double), stream),
                "clear the sums of the background");
        add(columns, static_cast<unsigned>(columns * chunks * frames), found_.as<unsigned long long>());
        mean_of_integers<<<blocks_for(count), threads_of_a_range, 0, stream>>>(found(), count,
                                                                               static_cast<double>(of.lines));
    };
    if (line_words(lines_, raw) == LineWords::u16) {
        by_chunks(of.samples / 2, [&](std::int64_t columns, unsigned blocks, unsigned long long* sums) {
            add_words<<<blocks, threads_of_a_range, 0, stream>>>(of, chunks, columns, sums);
        });
        return checked_launch("find the mean spectrum");
    }
    with_reader(lines_, raw, [&](const auto& read) {
        using Read = std::remove_cvref_t<decltype(read)>;
        if (is_real<Read> || count >= busy) {
            means<<<blocks_for(count), threads_of_a_range, 0, stream>>>(read, of, count, found());
            return;
        }
        if constexpr (!is_real<Read>) {
            by_chunks(of.samples, [&](std::int64_t columns, unsigned blocks, unsigned long long* sums) {
                add_integers<<<blocks, threads_of_a_range, 0, stream>>>(read, of, chunks, columns, sums);
            });
        }
    });
    checked_launch("find the mean spectrum");
}

void FrameBackground::find_median(cudaStream_t stream, const std::byte* raw, std::int64_t frames) {
    const Frames of{raw, lines_.line_bytes(), lines_per_frame_, lines_.samples()};
    const std::int64_t count = frames * of.samples;
    with_reader(lines_, raw, [&](const auto& read) {
        medians<<<blocks_for(count), threads_of_a_range, 0, stream>>>(read, of, count, found());
    });
    checked_launch("find the median spectrum");
}

// Subsequent blends on either device follow in event order, so the copied state is not overwritten.
void RunningState::take_over(const RunningState& before, int from, int current) {
    checked(cudaStreamWaitEvent(copying_, before.changed), "wait for the block before");
    checked(cudaStreamWaitEvent(copying_, changed), "wait for the block before");
    checked(cudaMemcpyPeerAsync(mean.data(), current, before.mean.data(), from, index(mean.bytes()), copying_),
            "receive the running background");
    checked(cudaEventRecord(changed, copying_), "pass on the running background");
}

// Restarts with each volume, so that volumes are independent.
void FrameBackground::blend(cudaStream_t stream, std::int64_t frames, bool volume_starts) {
    checked(cudaStreamWaitEvent(stream, running_->changed), "wait for the block before");
    blend_frames<<<blocks_for(lines_.samples()), threads_of_a_range, 0, stream>>>(
        running_->mean.as<double>(), found(), lines_.samples(), frames, running_alpha_, volume_starts);
    checked_launch("blend the running background");
    checked(cudaEventRecord(running_->changed, stream), "pass on the running background");
}

// ---- Kernels for fixed patterns: each thread processes all lines of one depth bin of a B-scan.

namespace {

// One depth bin over the lines of a B-scan.
struct Column {
    float2* first;
    std::int64_t stride;
    std::int64_t lines;

    __device__ float2& operator[](std::int64_t line) const { return first[line * stride]; }
};

struct MedianPattern {
    __device__ float2 operator()(const Column& bins) const {
        const double re = median_of([&](std::int64_t l) { return bins[l].x; }, bins.lines);
        const double im = median_of([&](std::int64_t l) { return bins[l].y; }, bins.lines);
        return {static_cast<float>(re), static_cast<float>(im)};
    }
};

// The mean of the segment with the smallest variance.
struct LeastVariantMean {
    std::int64_t segments;

    __device__ float2 operator()(const Column& bins) const {
        double least = std::numeric_limits<double>::infinity();
        double2 best{};
        for (std::int64_t s = 0; s < segments; ++s) {
            const std::int64_t begin = bins.lines * s / segments, end = bins.lines * (s + 1) / segments;
            const auto count = static_cast<double>(end - begin);
            double2 mean{};
            for (std::int64_t l = begin; l < end; ++l) {
                mean.x += static_cast<double>(bins[l].x);
                mean.y += static_cast<double>(bins[l].y);
            }
            mean.x /= count;
            mean.y /= count;
            double variance = 0;
            for (std::int64_t l = begin; l < end; ++l) {
                const double re = static_cast<double>(bins[l].x) - mean.x, im = static_cast<double>(bins[l].y) - mean.y;
                variance += re * re + im * im;
            }
            variance /= count;
            if (variance < least) {
                least = variance;
                best = mean;
            }
        }
        return {static_cast<float>(best.x), static_cast<float>(best.y)};
    }
};

template <class Pattern>
__global__ void subtract_pattern(Pattern pattern_of, DeviceBins bins, std::int64_t columns, std::int64_t lines,
                                 std::int64_t depth) {
    const std::int64_t i = element();
    if (i >= columns) return;
    const std::int64_t frame = i / depth, z = i % depth;
    const Column column{bins.first + frame * lines * bins.stride + z, bins.stride, lines};
    const float2 pattern = pattern_of(column);
    for (std::int64_t l = 0; l < lines; ++l) {
        column[l].x -= pattern.x;
        column[l].y -= pattern.y;
    }
}

}  // namespace

void remove_fixed_pattern(cudaStream_t stream, FixedPattern mode, std::int64_t segments, const DeviceBins& bins,
                          std::int64_t frames, std::int64_t lines, std::int64_t depth) {
    const std::int64_t columns = frames * depth;
    const auto remove = [&](auto pattern) {
        subtract_pattern<<<blocks_for(columns), threads_of_a_range, 0, stream>>>(pattern, bins, columns, lines, depth);
    };
    if (mode == FixedPattern::median) {
        remove(MedianPattern{});
    } else {
        remove(LeastVariantMean{segments});
    }
    checked_launch("remove the fixed pattern");
}

}  // namespace echolux::cuda
