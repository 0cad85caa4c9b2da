// Neighbouring lines side by side in shared memory: the first step of all kernels with two or four lines on chip.
#pragma once

#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "compute/cuda/line_method.h"
#include "compute/cuda/line_pairs.h"
#include "compute/steps/sample.h"

namespace echolux::cuda {

// ---- Reads lines side by side into shared memory, with or without subtraction of their background. Formats of fast
// instruments are read by whole words, all of which are loaded before the first is used. Other formats are read sample
// by sample.

// The same sample of four lines as recorded.
struct PackedQuad {
    std::uint32_t ab, cd;  // first line in the lower half
};

// Converts each half of a word to a float whose upper half is `upper`: cheaper than a conversion.
template <unsigned upper>
__device__ inline float2 as_floats(std::uint32_t word) {
    return {__uint_as_float(__byte_perm(word, upper, 0x5410)), __uint_as_float(__byte_perm(word, upper, 0x5432))};
}

// Converts both 16-bit counts of a word exactly. Below the upper half 0x4b00 of 2^23, they are the last bits of the
// mantissa, whose unit is 1.
__device__ inline float2 numbers(std::uint32_t word) {
    constexpr float ones = 8388608;  // 2^23
    const float2 and_ones = as_floats<0x4b00>(word);
    return {and_ones.x - ones, and_ones.y - ones};
}

// Raw lines read by a group of threads.
template <int lines>
struct LineSet {
    LineFormat format;
    const std::byte* line[lines];
    const float* whole;  // background of all lines, [samples]
    const float* rest;
    int samples;
    int thread;
    int threads;
};
using LinePair = LineSet<2>;

// Samples 2 p and 2 p + 1 in the two halves of a word, for p = thread, thread + threads, ... of a line of little-endian
// u16, 4-byte aligned.
struct U16Words {
    const std::uint32_t* words;

    __device__ U16Words(const std::byte* line, int thread, int)
        : words(reinterpret_cast<const std::uint32_t*>(line) + thread) {}

    __device__ std::uint32_t operator()(int p) const { return __ldcs(words + p); }  // read once
};

// Variant for packed 12-bit samples, 4-byte aligned. Three bytes may span two words.
struct Packed12Words {
    const std::uint32_t* words;
    int thread;
    int last;

    __device__ Packed12Words(const std::byte* line, int thread, int samples)
        : words(reinterpret_cast<const std::uint32_t*>(line)), thread(thread), last(3 * samples / 8 - 1) {}

    __device__ std::uint32_t operator()(int p) const {
        const int byte = 3 * (thread + p), first = byte / 4;
        const std::uint32_t low = __ldg(words + first), high = __ldg(words + min(first + 1, last));
        const std::uint32_t bits = __funnelshift_r(low, high, 8 * (byte % 4));
        return (bits & 0xfffu) | (bits & 0xfff000u) << 4;
    }
};

// Returns two samples of both lines, background subtracted.
__device__ inline float4 less_background(std::uint32_t a, std::uint32_t b, float2 whole, float2 rest) {
    const MinusBackground less;
    return {less(static_cast<int>(a & 0xffffu), whole.x, rest.x), less(static_cast<int>(b & 0xffffu), whole.x, rest.x),
            less(static_cast<int>(a >> 16), whole.y, rest.y), less(static_cast<int>(b >> 16), whole.y, rest.y)};
}

// Stores two samples of both lines unchanged, or as halves scaled by 2^-16, so that no sum of a few thousand exceeds
// the largest half.
constexpr float of_half_samples = 1.0f / 65536;

__device__ inline void put(float2* spectra, float4 samples) {
    *reinterpret_cast<float4*>(spectra) = samples;
}

__device__ inline void put(__half2* spectra, float4 samples) {
    spectra[0] = __floats2half2_rn(samples.x * of_half_samples, samples.y * of_half_samples);
    spectra[1] = __floats2half2_rn(samples.z * of_half_samples, samples.w * of_half_samples);
}

// Reads spectra of 2 * `words` samples per thread. `spectra`: (a, b) of each sample.
template <class Words, int words = 8>
struct ByWords {
    template <class Sample>
    __device__ static void read(const LinePair& lines, Sample* spectra) {
        const Words read_a(lines.line[0], lines.thread, lines.samples),
            read_b(lines.line[1], lines.thread, lines.samples);
        const auto* wholes = reinterpret_cast<const float2*>(lines.whole) + lines.thread;
        const auto* rests = reinterpret_cast<const float2*>(lines.rest) + lines.thread;
        std::uint32_t a[words], b[words];
#pragma unroll
        for (int i = 0; i < words; ++i) {
            a[i] = read_a(i * lines.threads);
            b[i] = read_b(i * lines.threads);
        }
#pragma unroll
        for (int i = 0; i < words; ++i) {
            const float2 whole = __ldg(wholes + i * lines.threads), rest = __ldg(rests + i * lines.threads);
            put(spectra + 2 * (lines.thread + i * lines.threads), less_background(a[i], b[i], whole, rest));
        }
    }
};

// Calls put(i, place, words) for this thread's words, one of each line. `place` is the position of thread 0's word in
// the lines, i * threads for full-length rows. For spectra of at most 16 samples per thread and an even number of
// samples. Values beyond the last sample are arbitrary.
template <class Words, int count, class Put>
__device__ inline void with_words(const LineSet<count>& lines, const Put& put) {
    constexpr int words = 8;
    const auto read = [&](const auto& place) {
        std::uint32_t read_words[words][count];
#pragma unroll
        for (int i = 0; i < words; ++i) {
#pragma unroll
            for (int l = 0; l < count; ++l) {
                read_words[i][l] = Words(lines.line[l], lines.thread, lines.samples)(place(i));
            }
        }
#pragma unroll
        for (int i = 0; i < words; ++i) put(i, place(i), read_words[i]);
    };
    if (lines.samples == 16 * lines.threads) {
        read([&](int i) { return i * lines.threads; });
    } else {
        const int last = lines.samples / 2 - 1 - lines.thread;
        read([&](int i) { return min(i * lines.threads, last); });
    }
}

// Reads lines with their background.
template <class Words>
struct AsRecorded {
    using Sample = float2;

    __device__ static void read(const LinePair& lines, float2* spectra) {
        auto* out = reinterpret_cast<float4*>(spectra) + lines.thread;
        with_words<Words>(lines, [&](int i, int, const std::uint32_t(&words)[2]) {
            const float2 a = numbers(words[0]), b = numbers(words[1]);
            out[i * lines.threads] = {a.x, b.x, a.y, b.y};
        });
    }
};

// Reads four lines with their background, unconverted.
template <class Words>
struct PackedAsRecorded {
    using Sample = PackedQuad;

    __device__ static void read(const LineSet<4>& lines, PackedQuad* spectra) {
        constexpr unsigned lower_halves = 0x5410, upper_halves = 0x7632;
        auto* out = reinterpret_cast<uint4*>(spectra) + lines.thread;
        with_words<Words>(lines, [&](int i, int, const std::uint32_t(&words)[4]) {
            out[i * lines.threads] = {
                __byte_perm(words[0], words[1], lower_halves), __byte_perm(words[2], words[3], lower_halves),
                __byte_perm(words[0], words[1], upper_halves), __byte_perm(words[2], words[3], upper_halves)};
        });
    }
};

// The same sample of four lines in halves.
struct alignas(8) HalfQuad {
    __half2 ab, cd;
};

// Half of the counts minus the integer part of their background. Differences are exact before rounding.
template <class Words>
struct HalvesMinusWhole {
    using Sample = HalfQuad;

    __device__ static void read(const LineSet<4>& lines, HalfQuad* spectra) {
        const auto* wholes = reinterpret_cast<const float2*>(lines.whole) + lines.thread;
        auto* out = reinterpret_cast<uint4*>(spectra) + lines.thread;
        with_words<Words>(lines, [&](int i, int place, const std::uint32_t(&words)[4]) {
            const float2 whole = __ldg(wholes + place);
            const float level0 = fmaf(whole.x, 0.5f, ones), level1 = fmaf(whole.y, 0.5f, ones);
            const float2 a = as_floats<0x4a80>(words[0]), b = as_floats<0x4a80>(words[1]);
            const float2 c = as_floats<0x4a80>(words[2]), d = as_floats<0x4a80>(words[3]);
            out[i * lines.threads] = {halves(a.x - level0, b.x - level0), halves(c.x - level0, d.x - level0),
                                      halves(a.y - level1, b.y - level1), halves(c.y - level1, d.y - level1)};
        });
    }

  private:
    // 2^22, whose upper half is 0x4a80: one unit in the low half is half a count
    static constexpr float ones = 4194304;

    __device__ static std::uint32_t halves(float first, float second) {
        const __half2 both = __floats2half2_rn(first, second);
        return reinterpret_cast<const std::uint32_t&>(both);
    }
};

// Reads lines with their background and any even number of samples, loading eight words per thread together.
template <class Words>
struct AsRecordedInTurn {
    __device__ static void read(const LinePair& lines, float2* spectra) {
        constexpr int at_once = 8;
        const Words read_a(lines.line[0], lines.thread, lines.samples),
            read_b(lines.line[1], lines.thread, lines.samples);
        auto* out = reinterpret_cast<float4*>(spectra) + lines.thread;
        const int end = lines.samples / 2 - lines.thread;
#pragma unroll 1
        for (int first = 0; first < end; first += at_once * lines.threads) {
            std::uint32_t a[at_once], b[at_once];
#pragma unroll
            for (int i = 0; i < at_once; ++i) {
                const int p = min(first + i * lines.threads, end - 1);
                a[i] = read_a(p);
                b[i] = read_b(p);
            }
#pragma unroll
            for (int i = 0; i < at_once; ++i) {
                const int p = first + i * lines.threads;
                const float2 of_a = numbers(a[i]), of_b = numbers(b[i]);
                if (p < end) out[p] = {of_a.x, of_b.x, of_a.y, of_b.y};
            }
        }
    }
};

// Reads spectra with any even number of samples, loading four words per thread together. `spectra` and the background
// rows must be aligned to pairs.
template <class Words>
struct ByWordsInTurn {
    __device__ static void read(const LinePair& lines, float2* spectra) {
        constexpr int at_once = 4;
        const Words read_a(lines.line[0], lines.thread, lines.samples),
            read_b(lines.line[1], lines.thread, lines.samples);
        const auto* wholes = reinterpret_cast<const float2*>(lines.whole) + lines.thread;
        const auto* rests = reinterpret_cast<const float2*>(lines.rest) + lines.thread;
        auto* out = reinterpret_cast<float4*>(spectra) + lines.thread;
        const int end = lines.samples / 2 - lines.thread;
#pragma unroll 1
        for (int first = 0; first < end; first += at_once * lines.threads) {
            std::uint32_t a[at_once], b[at_once];
#pragma unroll
            for (int i = 0; i < at_once; ++i) {
                const int p = min(first + i * lines.threads, end - 1);
                a[i] = read_a(p);
                b[i] = read_b(p);
            }
#pragma unroll
            for (int i = 0; i < at_once; ++i) {
                const int p = first + i * lines.threads;
                if (p >= end) break;
                out[p] = less_background(a[i], b[i], __ldg(wholes + p), __ldg(rests + p));
            }
        }
    }
};

// Reads any format sample by sample and subtracts the background.
struct BySamples {
    using Sample = float2;

    __device__ static void read(const LinePair& lines, float2* spectra) {
        const MinusBackground less;
        lines.format.with_reader([&](const auto& sample) {
#pragma unroll 1
            for (int p = lines.thread; p < lines.samples; p += lines.threads) {
                const float whole = lines.whole[p], rest = lines.rest[p];
                spectra[p] = {less(sample(lines.line[0], p), whole, rest), less(sample(lines.line[1], p), whole, rest)};
            }
        });
    }
};

// Fastest way to read a line, selected at run time: whole words with or without background subtraction, or sample by
// sample with subtraction.
enum class LineReading { u16_as_recorded, packed12_as_recorded, u16_words, packed12_words, by_samples };

__device__ inline void read_lines(LineReading reading, const LinePair& lines, float2* spectra) {
    switch (reading) {
        case LineReading::u16_as_recorded: return AsRecordedInTurn<U16Words>::read(lines, spectra);
        case LineReading::packed12_as_recorded: return AsRecordedInTurn<Packed12Words>::read(lines, spectra);
        case LineReading::u16_words: return ByWordsInTurn<U16Words>::read(lines, spectra);
        case LineReading::packed12_words: return ByWordsInTurn<Packed12Words>::read(lines, spectra);
        default: BySamples::read(lines, spectra);
    }
}

// ---- Arguments of kernels that process lines in pairs.

// Raw lines, their format, pairing and background.
struct PairedLines {
    LineFormat format;
    const std::byte* raw = nullptr;
    LinePairs pairs;
    DeviceBackground background;

    PairedLines() = default;
    PairedLines(const LineFormat& lines_format, const RawLines& lines)
        : format(lines_format), raw(lines.raw), pairs(lines.count, lines.background), background(lines.background) {}

    __device__ LinePair spectra(LinePairs::Pair pair, int t, int threads) const {
        const std::int64_t row = background.row(pair.a), line_bytes = format.line_bytes();
        return {format,
                {raw + pair.a * line_bytes, raw + pair.b * line_bytes},
                background.whole + row,
                background.rest + row,
                static_cast<int>(format.samples()),
                t,
                threads};
    }
};

}  // namespace echolux::cuda
