// Converts the power of a depth bin to the stored voxel, for the kernels of all methods, with the step functors that
// the CPU uses too. The recipe selects the functors.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "compute/cuda/target.h"
#include "compute/plan/params.h"
#include "compute/plan/plan_tables.h"
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
            power = mode == NoiseFloor::amplitude ? LessNoiseAmplitude{}(power, noise_floor[z])
                                                  : LessNoisePower{}(power, noise_floor[z]);
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

    static bool fits(const Recipe& recipe) {
        return recipe.voxel == VoxelType::u8 && recipe.quantity == Quantity::db &&
               recipe.noise_floor == NoiseFloor::none;
    }

    __device__ std::uint8_t operator()(float2 bin) const {
        constexpr float max_code = 255, ones = 8388608;
        float octaves;
        asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(octaves) : "f"(Power{}(bin.x, bin.y) * to_middle));
        const float share = __saturatef(fmaf(octaves, per_octave, middle));  // NaN becomes 0
        return static_cast<std::uint8_t>(__float_as_uint(fmaf(share, max_code, ones)));
    }
};

}  // namespace echolux::cuda
