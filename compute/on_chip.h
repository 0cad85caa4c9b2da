// The part of the GPU kernels' design that the host knows in every build: lengths that a thread block can transform by
// itself, their layout in shared memory, the shapes of thread blocks, and how lines are read.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "compute/error.h"
#include "compute/host_device.h"
#include "compute/plan/params.h"
#include "compute/steps/sample.h"

namespace echolux::cuda {

// ---- How lines are read.

// Word format of lines that kernels read by whole words rather than sample by sample: little-endian, one channel,
// without shift and mask, as streamed by fast instruments.
enum class LineWords { none, u16, packed12 };

// Considers the format only.
inline LineWords format_words(const LineFormat& format) {
    LineWords words = LineWords::none;
    format.with_reader([&](const auto& read) {
        using Read = std::remove_cvref_t<decltype(read)>;
        if (read.shift != 0 || read.mask != 0xffffffffu) return;
        if constexpr (std::is_same_v<Read, ReadSample<SampleFormat::u16, ByteOrder::little, UnitStride>>) {
            words = LineWords::u16;
        } else if constexpr (std::is_same_v<Read, ReadSample<SampleFormat::packed12, ByteOrder::little, UnitStride>>) {
            words = LineWords::packed12;
        }
    });
    return words;
}

// Returns whether every line is aligned to `bytes` bytes.
inline bool lie_at(const LineFormat& format, const std::byte* raw, std::uint64_t bytes) {
    return (reinterpret_cast<std::uintptr_t>(raw) | static_cast<std::uint64_t>(format.line_bytes())) % bytes == 0;
}

// Returns how lines can be read in 32-bit words. Requires aligned lines with a whole number of words.
inline LineWords line_words(const LineFormat& format, const std::byte* raw) {
    const LineWords words = format_words(format);
    const int samples_together = words == LineWords::packed12 ? 8 : 2;
    return lie_at(format, raw, 4) && format.samples() % samples_together == 0 ? words : LineWords::none;
}

// How the fused kernel reads lines.
enum class LineForm {
    subtracted,   // sample by sample, background subtracted first
    as_recorded,  // by whole words, with their background
    two_in_one,   // by whole words, two lines as one complex transform: for real weights and LagrangeCubic
    halves        // by whole words, in half precision, minus the integer part of their background
};

// Returns the significant bits of a sample after shift and mask.
inline int significant_bits(const RawFormat& format) {
    const std::int64_t left = sample_bits(format.sample_format) - format.shift;
    return static_cast<int>(format.bits == 0 ? left : std::min(left, format.bits));
}

// Returns whether the sample format fits into halves without losing precision.
inline bool fits_halves(const RawFormat& format) {
    return format.sample_format != SampleFormat::f32 && significant_bits(format) <= 16;
}

// ---- Twiddle factors.

// A butterfly of `radix` points stores only the powers w^1, w^2, w^3, w^4, w^8, w^12, w^16 that it needs. The kernel
// computes the others as products.
constexpr int twiddle_rows(int radix) {
    return radix < 4 ? radix - 1 : 3 + (radix - 1) / 4;
}

// ---- Lengths that a thread block can transform by itself.

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

// Returns the best known shape, or nothing for unsupported lengths. `voxel_bytes` is 0 without voxels.
std::optional<MixedShape> mixed_shape(std::int64_t transform, std::int64_t samples, std::int64_t voxel_bytes,
                                      std::int64_t max_shared_bytes);

// ---- Shared memory of a thread block, in bytes, of the kernels for powers of two.

// Bytes of a complex point of one line, and of the points of two lines in floats or four in halves.
inline constexpr std::int64_t point_bytes = 8, point_pair_bytes = 16;

// Points of the exchange buffer of a transform with a TransformSize.
std::int64_t exchange_points(std::int64_t n);

// Groups of threads in a block of the fused kernel.
constexpr int fused_groups(int threads) {
    return threads < 128 ? 128 / threads : 1;
}

// The fused kernel: for each group the points of its lines, in whichever form, and a row of voxels per line.
std::int64_t fused_bytes(std::int64_t transform, std::int64_t lines, std::int64_t voxel_bytes);

// Two padded lines, up-sampled by `factor`: one line per phase; the last one shares memory with the exchange buffer.
std::int64_t upsampling_bytes(std::int64_t padded, std::int64_t factor);

// The sparse search of an A-scan with `sensed` samples.
std::int64_t sparse_search_bytes(std::int64_t modes, std::int64_t sensed);

// ---- Windows of the Doppler kernel, which holds lines in registers and depths in the lanes of a warp.

inline constexpr int max_doppler_lines = 8, max_doppler_depths = 16;

// ---- Transforms in two passes, of lengths that do not fit into a thread block (compute/cuda/two_passes.h).

// The transforms of both passes.
struct TwoPassLength {
    static constexpr int columns = 16;  // transforms per thread block
    // points in shared memory, chosen to avoid bank conflicts in both directions
    static constexpr int pitch = columns + 1;

    MixedRadix first;
    MixedRadix second;

    ECHOLUX_HD int n() const { return first.n * second.n; }

    // Returns the shared memory of a block: its points and, in the second pass, the codes of two lines.
    static int shared_bytes(const MixedRadix& transform) { return transform.n * pitch * 16; }
    int code_bytes() const { return 2 * code_rows() * columns; }
    ECHOLUX_HD int code_rows() const { return (second.n + 1) / 2; }
};

// Returns nothing for up to 8192 points, or if the factors are too large or the shared memory too small.
std::optional<TwoPassLength> two_pass_length(std::int64_t n, std::int64_t max_shared_bytes);

}  // namespace echolux::cuda
