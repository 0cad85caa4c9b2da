// Plain types shared by all rooms: voxel types and the memory layout of volumes.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace echolux {

enum class VoxelType {
    u8,
    u16,
    i16,
    f16,
    f32,
    complex64,
    phasor8
};  // f16: for textures; complex64: two f32, real and imaginary; phasor8: two signed bytes, 127 = 1

constexpr std::int64_t bytes_of(VoxelType type) {
    switch (type) {
        case VoxelType::u8: return 1;
        case VoxelType::u16:
        case VoxelType::i16:
        case VoxelType::f16:
        case VoxelType::phasor8: return 2;
        case VoxelType::f32: return 4;
        case VoxelType::complex64: return 8;
    }
    return 0;
}

// Converts the 16 bits of an IEEE half.
inline float value_of_half(std::uint16_t bits) {
    const int exponent = bits >> 10 & 0x1F, fraction = bits & 0x3FF;
    const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
    if (exponent == 0x1F) {
        return sign *
               (fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN());
    }
    return exponent == 0 ? sign * std::ldexp(static_cast<float>(fraction), -24)
                         : sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

// Geometry and meaning of a volume. Memory order: depth fastest, then A-scan, then B-scan.
struct VolumeGrid {
    std::int64_t depth = 0;
    std::int64_t a_scans = 0;
    std::int64_t b_scans = 0;
    VoxelType type = VoxelType::f32;
    std::array<double, 3> spacing_um{};  // along depth, A-scans, B-scans; 0: unknown, never guessed
    double first_depth_um = 0;           // depth of the first row from zero delay; valid if spacing_um[0] > 0
    double scale = 1;                    // value = code * scale + offset
    double offset = 0;
    std::string quantity;  // name in recipe.quantity or flow.method ("db", "doppler" ...); empty for foreign volumes
    std::string unit;      // unit of the value: "dB above noise floor", "dB", "counts", ...
    double v_max = 0;      // axial velocity in mm/s at phase pi, for phasors; 0: unknown

    bool operator==(const VolumeGrid&) const = default;

    std::int64_t voxels() const { return depth * a_scans * b_scans; }
    std::int64_t bytes() const { return voxels() * bytes_of(type); }
    std::int64_t a_scan_bytes() const { return depth * bytes_of(type); }
    std::int64_t b_scan_bytes() const { return a_scans * a_scan_bytes(); }
};

}  // namespace echolux
