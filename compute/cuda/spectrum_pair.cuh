// The first step of the fused kernel: two lines less their background, side by side in shared memory. Formats that
// instruments stream fast are read by whole words, all of them under way before the first is used; every other one
// sample by sample.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/cuda/line_method.h"
#include "compute/line_format.h"
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
        const std::uint32_t word = __ldg(words + p);
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

// Of spectra as long as the transform: 16 samples a thread. `spectra`: (a, b) of each sample.
template <class Words>
struct ByWords {
    __device__ static void read(const LinePair& lines, float2* spectra) {
        const Words read_a(lines.a, lines.thread, lines.samples), read_b(lines.b, lines.thread, lines.samples);
        const auto* wholes = reinterpret_cast<const float2*>(lines.whole) + lines.thread;
        const auto* rests = reinterpret_cast<const float2*>(lines.rest) + lines.thread;
        auto* out = reinterpret_cast<float4*>(spectra) + lines.thread;
        int2 a[8], b[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            a[i] = read_a(i * lines.threads);
            b[i] = read_b(i * lines.threads);
        }
        const LessBackground less;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const float2 whole = __ldg(wholes + i * lines.threads), rest = __ldg(rests + i * lines.threads);
            out[i * lines.threads] = {less(a[i].x, whole.x, rest.x), less(b[i].x, whole.x, rest.x),
                                      less(a[i].y, whole.y, rest.y), less(b[i].y, whole.y, rest.y)};
        }
    }
};

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

}  // namespace echolux::cuda
