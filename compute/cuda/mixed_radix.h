// Runtime layout of transforms whose length is a product of small numbers (mixed_radix.cuh): the stages, the positions
// of their points in shared memory, and their twiddle factors.
#pragma once

#include <vector_types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compute/cuda/twiddles.h"
#include "compute/host_device.h"

namespace echolux::cuda {

// Points move only within a butterfly. Before stage s, the point (or bin k of the transform of the previous stages)
// with digits k = k_1 + r_1 (k_2 + r_2 (...)) is at k_1 stride_1 + k_2 stride_2 + ... + remainder. The operands of the
// stage are its stride apart.
struct MixedStage {
    static constexpr int max_turns = 4;

    int radix = 1;
    int butterflies = 0;
    int stride = 1;    // between operands in shared memory
    int length = 1;    // bins of the transforms before this stage
    int twiddles = 0;  // offset of this stage's factors

    // Butterfly u starts at u + sum of floor(u / divisor) * step and has bin floor(u / first divisor).
    struct Turn {
        std::uint32_t reciprocal = 0;  // reciprocal of the divisor, times 2^32; 0 for divisor 1
        int step = 0;
    };
    Turn turns[max_turns];
};

// Returns floor(u / divisor) using its reciprocal.
ECHOLUX_HD inline int quotient(int u, std::uint32_t reciprocal) {
    if (reciprocal == 0) return u;
#ifdef __CUDA_ARCH__
    return static_cast<int>(__umulhi(static_cast<unsigned>(u), reciprocal));
#else
    return static_cast<int>(static_cast<std::uint64_t>(u) * reciprocal >> 32);
#endif
}

// Returns the position of the first operand of butterfly u.
ECHOLUX_HD inline int place_of(const MixedStage& stage, int stages_before, int u) {
    int place = u;
    ECHOLUX_UNROLL
    for (int i = 0; i < MixedStage::max_turns; ++i) {
        if (i < stages_before) place += quotient(u, stage.turns[i].reciprocal) * stage.turns[i].step;
    }
    return place;
}

// The stages of a transform. Small enough to be a kernel argument.
struct MixedRadix {
    static constexpr int max_stages = MixedStage::max_turns + 1;

    int n = 1;
    int stages = 0;
    int exchange_points = 0;
    MixedStage stage[max_stages];
};

// Returns the layout for 2 to 5 radices whose product is the length. `padding` is the number of points between the
// parts of the first stage.
constexpr MixedRadix mixed_radix(std::span<const int> radices, int padding) {
    const auto reciprocal = [](int divisor) {
        const auto wide = static_cast<std::uint64_t>(divisor);
        return divisor == 1 ? 0 : static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + wide - 1) / wide);
    };
    MixedRadix length;
    for (const int radix : radices) length.n *= radix;
    int before = 1, after = length.n, factors = 0;
    for (const int radix : radices) {
        MixedStage& stage = length.stage[length.stages];
        after /= radix;
        stage.radix = radix;
        stage.butterflies = length.n / radix;
        stage.stride = length.stages == 0 ? after + padding : after;
        stage.length = before;
        stage.twiddles = factors;
        if (length.stages > 0) factors += twiddle_rows(radix) * before;
        int divisor = after;
        for (int digit = 0; digit < length.stages; ++digit) {
            const MixedStage& earlier = length.stage[digit];
            const int reached = digit == 0 ? after : length.stage[digit - 1].radix * length.stage[digit - 1].stride;
            stage.turns[digit] = {reciprocal(divisor), earlier.stride - reached};
            divisor *= earlier.radix;
        }
        before *= radix;
        ++length.stages;
    }
    length.exchange_points = length.stage[0].radix * length.stage[0].stride;
    return length;
}

// Returns the smallest set of supported radices, descending, whose product is n, and among these the one with the
// smallest sum. Empty if n has none.
std::vector<int> fewest_radices(int n);

// Returns the best known layout for 64 to 8192 points, or nothing if the length is not a product of 2 ... 13.
std::optional<MixedRadix> mixed_radix_of(std::int64_t n);

// Returns the factors of all stages but the first, one stage after another.
std::vector<float2> mixed_radix_twiddles(const MixedRadix& length);

}  // namespace echolux::cuda
