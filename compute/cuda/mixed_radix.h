// Lengths that are products of small numbers, as a group of threads transforms them (mixed_radix.cuh): the stages,
// where their points lie in shared memory, and the factors that each needs. Nothing is known of a length while
// compiling.
#pragma once

#include <vector_types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compute/cuda/twiddles.h"
#include "compute/host_device.h"

namespace echolux::cuda {

// Points change their places only within a butterfly. Before stage s, point (or bin k of a transform of the stages
// before) with digits k = k_1 + r_1 (k_2 + r_2 (...)) lies at k_1 stride_1 + k_2 stride_2 + ... + what is left; the
// stage's operands are its stride apart.
struct MixedStage {
    static constexpr int max_turns = 4;

    int radix = 1;
    int butterflies = 0;
    int stride = 1;    // in shared memory, from operand to operand
    int length = 1;    // bins that the transforms had before it
    int twiddles = 0;  // where those of the stage begin

    // Butterfly u of the stage begins at u + sum of floor(u / divisor) * step; it has bin floor(u / first divisor).
    struct Turn {
        std::uint32_t reciprocal = 0;  // of the divisor, times 2^32; 0: of 1
        int step = 0;
    };
    Turn turns[max_turns];
};

ECHOLUX_HD inline int quotient(int u, std::uint32_t reciprocal) {
    if (reciprocal == 0) return u;
#ifdef __CUDA_ARCH__
    return static_cast<int>(__umulhi(static_cast<unsigned>(u), reciprocal));
#else
    return static_cast<int>(static_cast<std::uint64_t>(u) * reciprocal >> 32);
#endif
}

// Where the first operand of butterfly u lies.
ECHOLUX_HD inline int place_of(const MixedStage& stage, int stages_before, int u) {
    int place = u;
    ECHOLUX_UNROLL
    for (int i = 0; i < MixedStage::max_turns; ++i) {
        if (i < stages_before) place += quotient(u, stage.turns[i].reciprocal) * stage.turns[i].step;
    }
    return place;
}

struct MixedRadix {
    static constexpr int max_stages = MixedStage::max_turns + 1;

    int n = 1;
    int stages = 0;
    int exchange_points = 0;
    MixedStage stage[max_stages];
};

// Of 2 to 5 radices whose product is the length; `padding`: points between the parts of the first stage.
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

// Radices that there are butterflies of, falling, whose product is n: as few as can be, and of these the least sum.
// Empty: there are none.
std::vector<int> fewest_radices(int n);

// The best known for a length of 64 to 8192 points; nothing where it is no product of 2 ... 13.
std::optional<MixedRadix> mixed_radix_of(std::int64_t n);

// Of all stages but the first, one after the other.
std::vector<float2> mixed_radix_twiddles(const MixedRadix& length);

}  // namespace echolux::cuda
