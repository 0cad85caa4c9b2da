// Access to the voxels of a volume as numbers.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "compute/error.h"
#include "engine/io/volume_file.h"

namespace echolux {

// Calls use(pointer to the first voxel, as its C++ type). The caller must exclude complex volumes. Throws
// Error{bad_setting} for f16, which only the renderer supports.
template <class Use>
void with_voxels(const Volume& volume, const Use& use) {
    const std::byte* voxels = volume.voxels.data();
    switch (volume.grid.type) {
        case VoxelType::u8: return use(reinterpret_cast<const std::uint8_t*>(voxels));
        case VoxelType::u16: return use(reinterpret_cast<const std::uint16_t*>(voxels));
        case VoxelType::i16: return use(reinterpret_cast<const std::int16_t*>(voxels));
        case VoxelType::f16:
            throw Error(ErrorCode::bad_setting, "f16 voxels are for display only", "recipe.voxel", "choose f32");
        default: return use(reinterpret_cast<const float*>(voxels));
    }
}

// Returns the smallest and largest code, ignoring NaN. Returns {infinity, -infinity} if all voxels are NaN.
inline std::pair<double, double> min_and_max(const Volume& volume) {
    double min = std::numeric_limits<double>::infinity(), max = -min;
    with_voxels(volume, [&](const auto* voxels) {
        for (std::int64_t i = 0; i < volume.grid.voxels(); ++i) {
            const auto code = static_cast<double>(voxels[i]);
            if (code < min) min = code;
            if (code > max) max = code;
        }
    });
    return {min, max};
}

}  // namespace echolux
