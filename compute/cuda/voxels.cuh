// Converts the power of a depth bin to the stored voxel, for the kernels of all methods, with the step functors that
// the CPU uses too. The recipe selects the functors.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "compute/cuda/target.h"
#include "compute/plan/params.h"
#include "compute/plan/tables.h"
#include "compute/steps/depth.h"

namespace echolux::cuda {

// Converts power to the recipe's quantity.
struct VoxelValue {
    Quantity quantity = Quantity::db;
    NoiseFloor mode = NoiseFloor::none;
    const float* noise_floor = nullptr;  // amplitude [depth], on the device; null: none
    float reference_db = 0;

    VoxelValue() = default;
    VoxelValue(const VoxelTables& tables, const float* floor)
        : quantity(tables.recipe.quantity), mode(tables.recipe.noise_floor), noise_floor(floor),
          reference_db(static_cast<float>(tables.reference_db)) {}

    // `z` counts kept bins.
    __device__ float operator()(float power, std::int64_t z) const {
        if (noise_floor != nullptr) {
            power = mode == NoiseFloor::amplitude ? MinusNoiseAmplitude{}(power, noise_floor[z])
                                                  : MinusNoisePower{}(power, noise_floor[z]);
        }
        if (quantity == Quantity::db) return Decibel{reference_db}(power);
        return quantity == Quantity::amplitude ? Amplitude{}(power) : Intensity{}(power);
    }
};

// Converts a value to a code at position `z` of a row of voxels.
struct VoxelCode {
    VoxelType type = VoxelType::f32;
    Quantised<std::uint8_t> bytes;
    Quantised<std::uint16_t> words;

    VoxelCode() = default;
    ECHOLUX_HD VoxelCode(VoxelType voxel, CodeRange range)
        : type(voxel), bytes(codes_over<std::uint8_t>(range.low, range.high)),
          words(codes_over<std::uint16_t>(range.low, range.high)) {}

    // `row` is memory or a TargetRow.
    template <class Row>
    __device__ void store(float value, const Row& row, std::int64_t z) const {
        switch (type) {
            case VoxelType::u8: return put(bytes(value), row, z);
            case VoxelType::u16: return put(words(value), row, z);
            case VoxelType::f16: return put(Half{}(value), row, z);
            default: put(value, row, z);
        }
    }

  private:
    template <class Code>
    __device__ static void put(Code code, std::byte* row, std::int64_t z) {
        reinterpret_cast<Code*>(row)[z] = code;
    }
    template <class Code>
    __device__ static void put(Code code, const TargetRow& row, std::int64_t z) {
        row.store(z * static_cast<std::int64_t>(sizeof(Code)), code);
    }
};

// u8 codes of dB without a noise floor, for live views. Equals VoxelValue followed by VoxelCode except for the last
// bits of a float (one code in 1e5 differs by one), in a third of the instructions. The power is scaled so that the
// middle of the range is 1, where log2 is most accurate. The multiplication instruction performs the clamp, and a sum
// beyond 2^23 has the code in its low byte.
struct ByteOfDecibel {
    float to_middle = 0;  // power factor
    float per_octave = 0;
    float middle = 0;

    ByteOfDecibel() = default;
    // `power_scale` converts powers to counts.
    ByteOfDecibel(const VoxelTables& tables, double power_scale) {
        const double low = tables.recipe.low, high = tables.recipe.high;
        to_middle = static_cast<float>(power_scale * std::pow(10.0, -((low + high) / 2 + tables.reference_db) / 10));
        if (high <= low) return;  // a single value: code 0
        per_octave = static_cast<float>(10 * std::log10(2.0) / (high - low));
        middle = 0.5f;
    }

    __device__ std::uint8_t operator()(float2 bin) const {
        constexpr float max_code = 255, ones = 8388608;  // 2^23: the sum is rounded to an integer in its last bits
        float octaves;
        asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(octaves) : "f"(Power{}(bin.x, bin.y) * to_middle));
        const float share = __saturatef(fmaf(octaves, per_octave, middle));  // NaN becomes 0
        return static_cast<std::uint8_t>(__float_as_uint(fmaf(share, max_code, ones)));
    }
};

// ---- Computes VoxelTargets::peaks, the max of each few voxels of a line, in the kernels that hold them: within a warp
// from values, which are ordered like their codes, or from a row of codes in shared memory.

// Called by whole warps, whose threads hold the values of consecutive positions starting at a multiple of 32. Threads
// beyond the line hold -INFINITY.
__device__ inline void store_peak(const VoxelCode& code, float value, std::byte* peaks, int depths, std::int64_t place,
                                  bool is_inside) {
    constexpr unsigned all_lanes = 0xffffffffu;
    for (int apart = depths / 2; apart > 0; apart /= 2) value = fmaxf(value, __shfl_xor_sync(all_lanes, value, apart));
    if (is_inside && place % depths == 0) code.store(value, peaks, place / depths);
}

// Returns the largest byte of one or two words. GPUs compute two 16-bit maxima per instruction.
__device__ inline unsigned max_byte(unsigned a, unsigned b) {
    constexpr unsigned even = 0x00ff00ffu;
    const unsigned m = __vmaxu2(__vmaxu2(a & even, a >> 8 & even), __vmaxu2(b & even, b >> 8 & even));
    return max(m & 0xffffu, m >> 16);
}
__device__ inline unsigned max_byte(unsigned a) {
    return max_byte(a, a);
}

// Stores the peaks of the i-th sixteen bytes of a line.
__device__ inline void store_peaks_of_16(uint4 codes, std::byte* peaks, int depths, int i) {
    if (depths == 8) {
        const unsigned both = max_byte(codes.x, codes.y) | max_byte(codes.z, codes.w) << 8;
        reinterpret_cast<std::uint16_t*>(peaks)[i] = static_cast<std::uint16_t>(both);
    } else {
        reinterpret_cast<std::uint32_t*>(peaks)[i] =
            max_byte(codes.x) | max_byte(codes.y) << 8 | max_byte(codes.z) << 16 | max_byte(codes.w) << 24;
    }
}

// Order of half-precision codes by their bits.
struct AsHalf {
    __device__ static std::uint16_t key(std::uint16_t bits) { return (bits & 0x8000u) != 0 ? ~bits : bits | 0x8000u; }
    __device__ static bool less(std::uint16_t a, std::uint16_t b) { return key(a) < key(b); }
};
struct AsNumber {
    template <class Code>
    __device__ static bool less(Code a, Code b) {
        return a < b;
    }
};

// Stores the peaks of a row of codes, which may be flipped. The threads divide the peaks among them.
template <class Code, class Order = AsNumber>
__device__ inline void store_row_peaks(const std::byte* row, int depth, bool flip, std::byte* peaks, int depths, int t,
                                       int threads) {
    const auto* codes = reinterpret_cast<const Code*>(row);
#pragma unroll 1
    for (int i = t; i * depths < depth; i += threads) {
        const int first = i * depths, end = min(first + depths, depth);
        Code peak = codes[flip ? depth - 1 - first : first];
#pragma unroll 1
        for (int z = first + 1; z < end; ++z) {
            const Code code = codes[flip ? depth - 1 - z : z];
            if (Order::less(peak, code)) peak = code;
        }
        reinterpret_cast<Code*>(peaks)[i] = peak;
    }
}

__device__ inline void store_row_peaks(VoxelType type, const std::byte* row, int depth, bool flip, std::byte* peaks,
                                       int depths, int t, int threads) {
    switch (type) {
        case VoxelType::u8: return store_row_peaks<std::uint8_t>(row, depth, flip, peaks, depths, t, threads);
        case VoxelType::u16: return store_row_peaks<std::uint16_t>(row, depth, flip, peaks, depths, t, threads);
        case VoxelType::f16: return store_row_peaks<std::uint16_t, AsHalf>(row, depth, flip, peaks, depths, t, threads);
        default: store_row_peaks<float>(row, depth, flip, peaks, depths, t, threads);
    }
}

// ---- Byte codes written by kernels that hold the bins of whole lines, which avoids reading them again.

// Lines with a multiple of sixteen codes that can be stored sixteen at a time.
struct ByteCodes {
    ByteOfDecibel code;
    int depth = 0;
    bool flip = false;
    DeviceTarget target;

    // Returns the position of bin z in a row.
    __device__ int place(int z) const { return flip ? depth - 1 - z : z; }

    // Writes the codes of a line from shared memory, using `threads` threads.
    __device__ void store(const std::byte* row, std::int64_t line, int t, int threads) const {
        const TargetRow to = target.row(line);
        const auto* codes = reinterpret_cast<const uint4*>(row);
        for (int i = t; i < depth / 16; i += threads) {
            to.store(16 * i, codes[i]);
            if (to.peaks != nullptr) store_peaks_of_16(codes[i], to.peaks, target.depths_of_a_peak, i);
        }
    }
};

}  // namespace echolux::cuda
