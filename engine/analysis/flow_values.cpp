#include "engine/analysis/flow_values.h"

#include <cmath>
#include <cstring>
#include <numbers>

namespace echolux {
namespace {

// Returns the phase of a phasor stored as two signed bytes.
float phase(const std::byte* code) {
    std::int8_t parts[2];
    std::memcpy(parts, code, sizeof(parts));
    return std::atan2(static_cast<float>(parts[1]), static_cast<float>(parts[0]));
}

// Returns the value of a half float.
float half(const std::byte* code) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, code, sizeof(bits));
    return value_of_half(bits);
}

}  // namespace

Volume flow_values(const Volume& codes) {
    Volume values{codes.grid, {}, codes.provenance};
    values.grid.type = VoxelType::f32;
    values.voxels.resize(static_cast<std::size_t>(values.grid.bytes()));
    const bool is_phasor = codes.grid.type == VoxelType::phasor8;
    const bool is_velocity = is_phasor && codes.grid.v_max > 0;
    const auto per_rad = is_velocity ? static_cast<float>(codes.grid.v_max / std::numbers::pi) : 1.0f;
    if (is_phasor) {
        values.grid.quantity = is_velocity ? "velocity" : "phase";
        values.grid.unit = is_velocity ? "mm/s" : "rad";
    }
    for (std::int64_t i = 0; i < codes.grid.voxels(); ++i) {
        const std::byte* code = codes.voxels.data() + 2 * i;
        const float value = is_phasor ? phase(code) * per_rad : half(code);
        std::memcpy(values.voxels.data() + 4 * i, &value, sizeof(value));
    }
    return values;
}

}  // namespace echolux
