// What every kernel begins with that has two lines on the chip: both less their background, side by side in shared
// memory. Formats that instruments stream fast are read by whole words, all of them under way before the first is used;
// every other one sample by sample.
#pragma once

#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "compute/cuda/line_method.h"
#include "compute/steps/line_format.h"
#include "compute/steps/sample.h"

namespace echolux::cuda {

struct LinePair {
    LineFormat format;
    const std::byte* a;
    const std::byte* b;
    const float* whole;  // background of both, [samples]
    const float* rest;
    int samples;
    int thread;
    int threads;
};

// Reads samples 2 p and 2 p + 1 for p = thread, thread + threads, ... of a line of little-endian u16, 4-byte aligned.
struct U16Words {
    const std::uint32_t* words;

    __device__ U16Words(const std::byte* line, int thread, int)
        : words(reinterpret_cast<const std::uint32_t*>(line) + thread) {}

    __device__ int2 operator()(int p) const {
        const std::uint32_t word = __ldcs(words + p);  // read once
        return {static_cast<int>(word & 0xffffu), static_cast<int>(word >> 16)};
    }
};

// The same of packed 12-bit samples, 4-byte aligned; three bytes lie in one word or in two.
struct Packed12Words {
    const std::uint32_t* words;
    int thread;
    int last;

    __device__ Packed12Words(const std::byte* line, int thread, int samples)
        : words(reinterpret_cast<const std::uint32_t*>(line)), thread(thread), last(3 * samples / 8 - 1) {}

    __device__ int2 operator()(int p) const {
        const int byte = 3 * (thread + p), first = byte / 4;
        const std::uint32_t low = __ldg(words + first), high = __ldg(words + min(first + 1, last));
        const std::uint32_t bits = __funnelshift_r(low, high, 8 * (byte % 4));
        return {static_cast<int>(bits & 0xfffu), static_cast<int>(bits >> 12 & 0xfffu)};
    }
};

// Of spectra of 2 * `words` samples a thread. `spectra`: (a, b) of each sample.
template <class Words, int words = 8>
struct ByWords {
    __device__ static void read(const LinePair& lines, float2* spectra) {
        const Words read_a(lines.a, lines.thread, lines.samples), read_b(lines.b, lines.thread, lines.samples);
        const auto* wholes = reinterpret_cast<const float2*>(lines.whole) + lines.thread;
        const auto* rests = reinterpret_cast<const float2*>(lines.rest) + lines.thread;
        auto* out = reinterpret_cast<float4*>(spectra) + lines.thread;
        int2 a[words], b[words];
#pragma unroll
        for (int i = 0; i < words; ++i) {
            a[i] = read_a(i * lines.threads);
            b[i] = read_b(i * lines.threads);
        }
        const LessBackground less;
#pragma unroll
        for (int i = 0; i < words; ++i) {
            const float2 whole = __ldg(wholes + i * lines.threads), rest = __ldg(rests + i * lines.threads);
            out[i * lines.threads] = {less(a[i].x, whole.x, rest.x), less(b[i].x, whole.x, rest.x),
                                      less(a[i].y, whole.y, rest.y), less(b[i].y, whole.y, rest.y)};
        }
    }
};

// Of 0 .. 2^23 - 1: cheaper than a conversion.
__device__ inline float number(int sample) {
    constexpr float ones = 8388608;
    return __int_as_float(__float_as_int(ones) | sample) - ones;
}

// put(i, place, a, b) for the words of both lines that are the thread's own: `place` of thread 0's in the lines, and in
// a row of the whole length i * threads. Of spectra of at most 16 samples a thread, an even number of them; what lies
// beyond the last sample has some value.
template <class Words, class Put>
__device__ inline void with_words(const LinePair& lines, const Put& put) {
    constexpr int words = 8;
    const Words read_a(lines.a, lines.thread, lines.samples), read_b(lines.b, lines.thread, lines.samples);
    const auto read = [&](const auto& place) {
        int2 a[words], b[words];
#pragma unroll
        for (int i = 0; i < words; ++i) {
            a[i] = read_a(place(i));
            b[i] = read_b(place(i));
        }
#pragma unroll
        for (int i = 0; i < words; ++i) put(i, place(i), a[i], b[i]);
    };
    if (lines.samples == 16 * lines.threads) {
        read([&](int i) { return i * lines.threads; });
    } else {
        const int last = lines.samples / 2 - 1 - lines.thread;
        read([&](int i) { return min(i * lines.threads, last); });
    }
}

// With their background.
template <class Words>
struct AsRecorded {
    __device__ static void read(const LinePair& lines, float2* spectra) {
        auto* out = reinterpret_cast<float4*>(spectra) + lines.thread;
        with_words<Words>(lines, [&](int i, int, int2 a, int2 b) {
            out[i * lines.threads] = {number(a.x), number(b.x), number(a.y), number(b.y)};
        });
    }
};

// Half of a sample of 0 .. 65535, and 2^22 more: without a conversion.
constexpr float of_halves = 4194304;

__device__ inline float half_count(int sample) {
    return __int_as_float(__float_as_int(of_halves) | sample);
}

// Halves of counts, less those of what is whole of their background: differences are exact before they are rounded.
template <class Words>
struct HalvesLessWhole {
    __device__ static void read(const LinePair& lines, __half2* spectra) {
        const auto* wholes = reinterpret_cast<const float2*>(lines.whole) + lines.thread;
        auto* out = reinterpret_cast<uint2*>(spectra) + lines.thread;
        with_words<Words>(lines, [&](int i, int place, int2 a, int2 b) {
            const float2 whole = __ldg(wholes + place);
            const float level0 = fmaf(whole.x, 0.5f, of_halves), level1 = fmaf(whole.y, 0.5f, of_halves);
            const __half2 first = __floats2half2_rn(half_count(a.x) - level0, half_count(b.x) - level0);
            const __half2 second = __floats2half2_rn(half_count(a.y) - level1, half_count(b.y) - level1);
            out[i * lines.threads] = {reinterpret_cast<const unsigned&>(first),
                                      reinterpret_cast<const unsigned&>(second)};
        });
    }
};

// The same of any even number of samples, eight words of a thread under way at a time.
template <class Words>
struct AsRecordedInTurn {
    __device__ static void read(const LinePair& lines, float2* spectra) {
        constexpr int at_once = 8;
        const Words read_a(lines.a, lines.thread, lines.samples), read_b(lines.b, lines.thread, lines.samples);
        auto* out = reinterpret_cast<float4*>(spectra) + lines.thread;
        const int end = lines.samples / 2 - lines.thread;
#pragma unroll 1
        for (int first = 0; first < end; first += at_once * lines.threads) {
            int2 a[at_once], b[at_once];
#pragma unroll
            for (int i = 0; i < at_once; ++i) {
                const int p = min(first + i * lines.threads, end - 1);
                a[i] = read_a(p);
                b[i] = read_b(p);
            }
#pragma unroll
            for (int i = 0; i < at_once; ++i) {
                const int p = first + i * lines.threads;
                if (p < end) out[p] = {number(a[i].x), number(b[i].x), number(a[i].y), number(b[i].y)};
            }
        }
    }
};

// Of spectra of any even number of samples, four words of a thread under way at a time. `spectra`, and the rows of the
// background, are aligned as their pairs are.
template <class Words>
struct ByWordsInTurn {
    __device__ static void read(const LinePair& lines, float2* spectra) {
        constexpr int at_once = 4;
        const Words read_a(lines.a, lines.thread, lines.samples), read_b(lines.b, lines.thread, lines.samples);
        const auto* wholes = reinterpret_cast<const float2*>(lines.whole) + lines.thread;
        const auto* rests = reinterpret_cast<const float2*>(lines.rest) + lines.thread;
        auto* out = reinterpret_cast<float4*>(spectra) + lines.thread;
        const int end = lines.samples / 2 - lines.thread;
        const LessBackground less;
#pragma unroll 1
        for (int first = 0; first < end; first += at_once * lines.threads) {
            int2 a[at_once], b[at_once];
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
                const float2 whole = __ldg(wholes + p), rest = __ldg(rests + p);
                out[p] = {less(a[i].x, whole.x, rest.x), less(b[i].x, whole.x, rest.x), less(a[i].y, whole.y, rest.y),
                          less(b[i].y, whole.y, rest.y)};
            }
        }
    }
};

// Whether lines can be read by U16Words.
inline bool has_u16_words(const LineFormat& format, const std::byte* raw) {
    bool has_words = false;
    format.with_reader([&](const auto& read) {
        using Read = std::remove_cvref_t<decltype(read)>;
        if constexpr (std::is_same_v<Read, ReadSample<SampleFormat::u16, ByteOrder::little, UnitStride>>) {
            const auto bits = reinterpret_cast<std::uintptr_t>(raw) | static_cast<std::uintptr_t>(format.line_bytes());
            has_words = read.shift == 0 && read.mask == 0xffffffffu && bits % 4 == 0;
        }
    });
    return has_words;
}

struct BySamples {
    __device__ static void read(const LinePair& lines, float2* spectra) {
        const LessBackground less;
        lines.format.with_reader([&](const auto& sample) {
#pragma unroll 1
            for (int p = lines.thread; p < lines.samples; p += lines.threads) {
                const float whole = lines.whole[p], rest = lines.rest[p];
                spectra[p] = {less(sample(lines.a, p), whole, rest), less(sample(lines.b, p), whole, rest)};
            }
        });
    }
};

// What reads a line best, found while a kernel runs: whole words as recorded, with their background, or less it, or
// sample by sample, less it.
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

}  // namespace echolux::cuda
