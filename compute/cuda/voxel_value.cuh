// From the power of a depth bin to the voxel that is stored, for the kernels of every method: the step functors that
// the CPU runs too, chosen by what the recipe wants.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/cuda/target.h"
#include "compute/plan/params.h"
#include "compute/plan/plan_tables.h"
#include "compute/steps/depth.h"

namespace echolux::cuda {

// Power to the recipe's quantity.
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

// Value to code, at place `z` of a row of voxels.
struct VoxelCode {
    VoxelType type = VoxelType::f32;
    Quantised<std::uint8_t> bytes;
    Quantised<std::uint16_t> words;

    VoxelCode() = default;
    ECHOLUX_HD VoxelCode(VoxelType voxel, CodeRange range)
        : type(voxel), bytes(codes_over<std::uint8_t>(range.low, range.high)),
          words(codes_over<std::uint16_t>(range.low, range.high)) {}

    // `row` is memory, or a TargetRow.
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

// u8 of dB without a noise floor, as live views want it: what VoxelValue and VoxelCode come to there, bit for bit, but
// known at compile time.
struct ByteOfDecibel {
    float power_scale;
    Decibel decibel;
    Quantised<std::uint8_t> code;

    static bool fits(const Recipe& recipe) {
        return recipe.voxel == VoxelType::u8 && recipe.quantity == Quantity::db &&
               recipe.noise_floor == NoiseFloor::none;
    }

    __device__ std::uint8_t operator()(float2 bin) const { return code(decibel(Power{}(bin.x, bin.y) * power_scale)); }
};

}  // namespace echolux::cuda
