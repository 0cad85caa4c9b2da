// Host side of the transforms of kernels (transform.cuh): lengths, layouts in shared memory, shapes of thread blocks,
// and tables of factors in double precision and in halves.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <vector_types.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

#include "compute/error.h"
#include "compute/host_device.h"
#include "compute/plan/params.h"

namespace echolux::cuda {

// ---- Twiddle factors of the fused kernels' transforms, computed once in double precision.

// A butterfly of `radix` points stores only the powers w^1, w^2, w^3, w^4, w^8, w^12, w^16 that it needs. The kernel
// computes the others as products.
constexpr int twiddle_rows(int radix) {
    return radix < 4 ? radix - 1 : 3 + (radix - 1) / 4;
}

// Appends [twiddle_rows][length]: powers of w = exp(-2 pi i k / (length * radix)), k < length.
inline void append_twiddles(std::vector<float2>& table, int radix, int length) {
    constexpr int powers[] = {1, 2, 3, 4, 8, 12, 16};
    for (int row = 0; row < twiddle_rows(radix); ++row) {
        for (int k = 0; k < length; ++k) {
            const double turn = static_cast<double>(k) * powers[row] / (static_cast<double>(length) * radix);
            const double angle = -2 * std::numbers::pi * turn;
            table.push_back({static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))});
        }
    }
}

// ---- Lengths that a thread block can transform by itself, and their twiddle factors.

// For 2^9 ... 2^13 points.
template <int log2_length>
struct TransformSize {
    static constexpr int log2_n = log2_length;
    static constexpr int n = 1 << log2_n;
    static constexpr int threads = n / 16;
    static constexpr bool four_stages = log2_n == 13;
    static constexpr int last_radix = four_stages ? 2 : n / 256;
    static constexpr int last_twiddles = twiddle_rows(16) * (four_stages ? 16 + 256 : 16);  // their offset in the table
    static constexpr int exchange_points = n + n / 16;                                      // in shared memory
};

inline bool has_transform_size(std::int64_t n) {
    return n >= 512 && n <= 8192 && std::has_single_bit(static_cast<std::uint64_t>(n));
}

// Calls use(TransformSize) for a supported length. Throws Error{bad_setting} for any other.
template <class Use>
void with_transform_size(std::int64_t n, const Use& use) {
    switch (n) {
        case 512: return use(TransformSize<9>{});
        case 1024: return use(TransformSize<10>{});
        case 2048: return use(TransformSize<11>{});
        case 4096: return use(TransformSize<12>{});
        case 8192: return use(TransformSize<13>{});
        default: throw Error(ErrorCode::bad_setting, "no block of threads transforms this length", "transform");
    }
}

// Returns the factors of all stages but the first, one stage after another.
inline std::vector<float2> transform_twiddles(std::int64_t n) {
    std::vector<float2> table;
    with_transform_size(n, [&](auto size) {
        using Size = decltype(size);
        append_twiddles(table, 16, 16);
        if (Size::four_stages) append_twiddles(table, 16, 256);
        append_twiddles(table, Size::last_radix, Size::n / Size::last_radix);
    });
    return table;
}

// ---- Runtime layout of transforms whose length is a product of small numbers: the stages, the positions of their
// points in shared memory, and their twiddle factors.

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

// ---- Shapes of kernels for lengths that are products of 2 ... 13, from 64 to 8192 points if they fit on chip.

// Division of a thread block's work.
struct MixedShape {
    static constexpr int max_block = 640;  // threads, which leaves about 100 registers each

    MixedRadix length;
    int groups = 1;     // each processes one pair of lines
    int threads = 1;    // per group
    int row_bytes = 0;  // for a line's spectrum, or its voxels if larger; multiple of 16

    static constexpr int row_bytes_for(std::int64_t samples, std::int64_t voxel_row_bytes) {
        constexpr std::int64_t aligned = 16;
        const std::int64_t spectrum = samples * 4, bytes = spectrum > voxel_row_bytes ? spectrum : voxel_row_bytes;
        return static_cast<int>((bytes + aligned - 1) / aligned * aligned);
    }
    int shared_bytes() const { return groups * (length.exchange_points * 16 + 2 * row_bytes); }
};

// Returns the shape for the current device, or nothing for unsupported lengths. `voxel_bytes` is 0 without voxels.
std::optional<MixedShape> mixed_shape(std::int64_t transform, std::int64_t samples, std::int64_t voxel_bytes);

// ---- Transforms a real line of 2 n points with a complex transform of n points: even points are the real parts, odd
// points the imaginary parts. With Z the result, anything linear in the line's spectrum is
//     own[k] Z[k] + mirrored[k] conj(Z[(n - k) mod n]).
// The factors are computed in double precision: for bins of the spectrum itself, and for the line shifted by a fraction
// of a sample, which is used for up-sampling.

// Returns (own, mirrored) for bins first, first + 1, ..., each multiplied by its factor in `times`.
std::vector<float4> spectrum_factors(std::int64_t n, std::int64_t first, const std::vector<float>& times);

// Returns [n] factors for each phase 1 ... upsample - 1. An unnormalized inverse transform of n points then yields the
// line shifted by phase / upsample samples, again with even points as real parts. The Nyquist bin is split between both
// halves (docs/algorithms.md 2.5).
std::vector<float4> shift_factors(std::int64_t n, std::int64_t upsample);

// ---- Decides what is transformed in half precision, and builds host tables of complex halves.

// Complex voxels and flow never use half precision.
inline bool needs_halves(const ReconstructionSpec& spec) {
    return spec.recipe.precision == Precision::fast && spec.recipe.quantity != Quantity::complex &&
           spec.flow.method == FlowMethod::none;
}

// Returns a power of two that scales weights of a grid. Scaled weights are at most 1, and no sum of their products with
// saturated samples, which are at most 1 (of_half_samples), exceeds the largest half.
inline float half_weight_scale(const std::vector<float2>& weights) {
    constexpr double largest_half = 65504;
    double largest = 0, sum = 0;
    for (const float2 weight : weights) {
        const double x = std::abs(double{weight.x}), y = std::abs(double{weight.y});
        largest = std::max({largest, x, y});
        sum += std::hypot(x, y);
    }
    if (largest == 0) return 1;
    return static_cast<float>(std::exp2(std::floor(std::log2(std::min(1 / largest, largest_half / sum)))));
}

// Returns the significant bits of a sample after shift and mask.
inline int significant_bits(const RawFormat& format) {
    const std::int64_t left = sample_bits(format.sample_format) - format.shift;
    return static_cast<int>(format.bits == 0 ? left : std::min(left, format.bits));
}

// Returns whether the sample format fits into halves without losing precision.
inline bool fits_halves(const RawFormat& format) {
    return format.sample_format != SampleFormat::f32 && significant_bits(format) <= 16;
}

// Returns a power of two that scales spectra after the window. Bins of saturated samples with any background are then
// at most half the largest half, and so are points of a spectrum transformed back from its bins, times their number and
// `of_peaks`. Not for float samples, whose range is unknown.
inline float half_spectrum_scale(const RawFormat& format, const std::vector<double>& window, double of_peaks) {
    constexpr double largest_half = 65504;
    double sum = 0, largest = 0;
    for (const double weight : window) {
        sum += std::abs(weight);
        largest = std::max(largest, std::abs(weight));
    }
    const double bins = std::max(sum, static_cast<double>(window.size()) * largest * of_peaks);
    const double greatest = std::ldexp(bins, significant_bits(format));
    return static_cast<float>(std::exp2(std::floor(std::log2(largest_half / 2 / greatest))));
}

// Returns a power of two that scales a matrix for products of halves. Its elements are then at most 2^14, far below
// overflow, and precise down to 2^-28 of the largest.
inline float half_matrix_scale(double largest) {
    return largest == 0 ? 1 : static_cast<float>(std::ldexp(1.0, 13 - std::ilogb(largest)));
}

// Returns the bits of a pair of halves, real and imaginary part.
inline std::uint32_t half_bits(float re, float im) {
    const __half2 half = __floats2half2_rn(re, im);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &half, sizeof(half));
    return bits;
}

inline std::vector<std::uint32_t> halves_of(const std::vector<float2>& values, float scale = 1) {
    std::vector<std::uint32_t> halves;
    for (const float2 value : values) halves.push_back(half_bits(value.x * scale, value.y * scale));
    return halves;
}

inline std::vector<std::uint32_t> halves_of(const std::vector<std::complex<double>>& values) {
    std::vector<std::uint32_t> halves;
    for (const std::complex<double>& value : values) {
        halves.push_back(half_bits(static_cast<float>(value.real()), static_cast<float>(value.imag())));
    }
    return halves;
}

}  // namespace echolux::cuda
