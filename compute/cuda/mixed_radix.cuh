// Discrete Fourier transform of a line, or of two side by side, whose length is a product of small radices. Each
// butterfly reads its operands from shared memory and writes the results back in place, so threads may process any
// number of butterflies in any order. The final position of a bin follows from the reversed digits of its index, and
// the last stage returns bins in natural order. Lengths are run-time values or, a fifth faster, compile-time constants.
#pragma once

#include <type_traits>
#include <utility>

#include "compute/cuda/fused_mixed.h"
#include "compute/cuda/line_transform.cuh"
#include "compute/cuda/mixed_radix.h"

namespace echolux::cuda {

// A radix as a type.
template <int value>
struct Radix {
    static constexpr int radix = value;
};

// A stage of a run-time length.
struct StageOfAny {
    const MixedStage& stage;
    int stages_before;

    __device__ int butterflies() const { return stage.butterflies; }
    __device__ int stride() const { return stage.stride; }
    __device__ int length() const { return stage.length; }
    __device__ int twiddles() const { return stage.twiddles; }
    __device__ int place(int u) const { return place_of(stage, stages_before, u); }
    __device__ int bin(int u) const { return quotient(u, stage.turns[0].reciprocal); }

    template <class Use>
    __device__ void with_radix(const Use& use) const {
        switch (stage.radix) {
            case 2: return use(Radix<2>{});
            case 3: return use(Radix<3>{});
            case 4: return use(Radix<4>{});
            case 5: return use(Radix<5>{});
            case 6: return use(Radix<6>{});
            case 7: return use(Radix<7>{});
            case 8: return use(Radix<8>{});
            case 9: return use(Radix<9>{});
            case 10: return use(Radix<10>{});
            case 11: return use(Radix<11>{});
            case 12: return use(Radix<12>{});
            case 13: return use(Radix<13>{});
            case 16: return use(Radix<16>{});
            default: return;
        }
    }
};

// Access to the stages of a run-time length.
struct AnyLength {
    static constexpr int max_block = MixedShape::max_block, min_blocks = 1;

    template <class Use>
    __device__ static void middle_stages(const MixedRadix& length, const Use& use) {
#pragma unroll 1
        for (int s = 1; s < length.stages - 1; ++s) use(StageOfAny{length.stage[s], s});
    }
    __device__ static StageOfAny first_stage(const MixedRadix& length) {
        return {length.stage[0], 0};
    }
    __device__ static StageOfAny last_stage(const MixedRadix& length) {
        return {length.stage[length.stages - 1], length.stages - 1};
    }
    __device__ static int n(const MixedRadix& length) {
        return length.n;
    }
    __device__ static int threads(const MixedShape& shape) {
        return shape.threads;
    }
};

// A stage of a compile-time length.
template <int s, int padding, int... radices>
struct StageOfKnown {
    static constexpr MixedStage stage() {
        constexpr int all[] = {radices...};
        return mixed_radix(all, padding).stage[s];
    }

    __device__ static constexpr int butterflies() { return std::integral_constant<int, stage().butterflies>::value; }
    __device__ static constexpr int stride() { return std::integral_constant<int, stage().stride>::value; }
    __device__ static constexpr int length() { return std::integral_constant<int, stage().length>::value; }
    __device__ static constexpr int twiddles() { return std::integral_constant<int, stage().twiddles>::value; }
    __device__ static int place(int u) {
        constexpr MixedStage known = stage();
        return place_of(known, s, u);
    }
    __device__ static int bin(int u) {
        constexpr std::uint32_t reciprocal = stage().turns[0].reciprocal;
        return quotient(u, reciprocal);
    }
    template <class Use>
    __device__ static void with_radix(const Use& use) {
        use(Radix<stage().radix>{});
    }
};

// Includes the shape: threads per group, groups per block.
template <int group_threads, int groups, int padding, int... radices>
struct KnownLength {
    template <int s>
    using Stage = StageOfKnown<s, padding, radices...>;
    static constexpr int count = sizeof...(radices);
    static constexpr int max_block = group_threads * groups, min_blocks = MixedShape::max_block / max_block;

    static constexpr MixedRadix length() {
        constexpr int all[] = {radices...};
        return mixed_radix(all, padding);
    }
    static MixedShape shape(std::int64_t samples) {
        return {length(), groups, group_threads, MixedShape::row_bytes_for(samples, length().n / 2)};
    }

    template <class Use>
    __device__ static void middle_stages(const MixedRadix&, const Use& use) {
        if constexpr (count > 2) use(Stage<1>{});
        if constexpr (count > 3) use(Stage<2>{});
        static_assert(count <= 4);
    }
    __device__ static Stage<0> first_stage(const MixedRadix&) { return {}; }
    __device__ static Stage<count - 1> last_stage(const MixedRadix&) { return {}; }
    __device__ static constexpr int n(const MixedRadix&) { return (radices * ...); }
    __device__ static constexpr int threads(const MixedShape&) { return group_threads; }
};

// The points of one line are adjacent in shared memory, or those of several lines are interleaved (two_passes.cuh).
template <class Exchange>
using PointOf = std::remove_cvref_t<decltype(std::declval<const Exchange&>()[0])>;

// first(v, u, butterflies) loads operands u, u + butterflies, ... of the first stage. Call between two barriers.
template <class Exchange, class Stage, class First>
__device__ inline void first_stage(const Stage& stage, Exchange exchange, int t, int threads, const First& first) {
    using Point = PointOf<Exchange>;
    stage.with_radix([&](auto size) {
        constexpr int radix = size.radix;
#pragma unroll 1
        for (int u = t; u < stage.butterflies(); u += threads) {
            Point v[radix];
            first(v, u, stage.butterflies());
            transform(v);
#pragma unroll
            for (int i = 0; i < radix; ++i) exchange[u + i * stage.stride()] = v[i];
        }
    });
}

template <class Exchange, class Stage>
__device__ inline void middle_stage(const Stage& stage, Exchange exchange, const float2* twiddles, int t, int threads) {
    using Point = PointOf<Exchange>;
    stage.with_radix([&](auto size) {
        constexpr int radix = size.radix;
#pragma unroll 1
        for (int u = t; u < stage.butterflies(); u += threads) {
            const Exchange at = exchange + stage.place(u);
            Point v[radix];
#pragma unroll
            for (int i = 0; i < radix; ++i) v[i] = at[i * stage.stride()];
            twiddle<radix>(v, twiddles + stage.twiddles() + stage.bin(u), stage.length());
            transform(v);
#pragma unroll
            for (int i = 0; i < radix; ++i) at[i * stage.stride()] = v[i];
        }
    });
}

// Calls use(bin, value) for all bins, or for those of the first half of n.
enum class Bins { all, first_half };

template <Bins bins = Bins::first_half, class Exchange, class Stage, class Use>
__device__ inline void last_stage(const Stage& stage, int n, Exchange exchange, const float2* twiddles, int t,
                                  int threads, const Use& use) {
    using Point = PointOf<Exchange>;
    stage.with_radix([&](auto size) {
        constexpr int radix = size.radix, used = bins == Bins::all ? radix : (radix + 1) / 2;
#pragma unroll 1
        for (int k = t; k < stage.butterflies(); k += threads) {
            const Exchange at = exchange + stage.place(k);
            Point v[radix];
#pragma unroll
            for (int i = 0; i < radix; ++i) v[i] = at[i];
            twiddle<radix>(v, twiddles + stage.twiddles() + k, stage.length());
            transform(v);
#pragma unroll
            for (int m = 0; m < used; ++m) {
                const int bin = k + m * stage.butterflies();
                if (bins == Bins::all || radix % 2 == 0 || m < radix / 2 || bin < n / 2) use(bin, v[m]);
            }
        }
    });
}

}  // namespace echolux::cuda
