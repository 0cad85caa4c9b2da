// Volumes in memory for tests.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "compute/indexing.h"
#include "engine/io/volume_file.h"

namespace echolux {

// Zero voxels.
inline Volume make_volume(VolumeGrid grid) {
    std::vector<std::byte> voxels(index(grid.bytes()));
    return {std::move(grid), std::move(voxels), {}};
}

// `size`: depth, A-scans, B-scans.
inline Volume make_volume(const std::array<std::int64_t, 3>& size, const std::string& quantity = "",
                          const std::array<double, 3>& spacing_um = {}, VoxelType type = VoxelType::f32) {
    return make_volume({.depth = size[0],
                        .a_scans = size[1],
                        .b_scans = size[2],
                        .type = type,
                        .spacing_um = spacing_um,
                        .quantity = quantity});
}

// Voxels in the order of memory: depth is fastest.
template <class Voxel>
Volume make_volume(const std::array<std::int64_t, 3>& size, const std::vector<Voxel>& voxels,
                   const std::string& quantity = "", const std::array<double, 3>& spacing_um = {}) {
    constexpr VoxelType type = std::is_same_v<Voxel, std::uint8_t>    ? VoxelType::u8
                               : std::is_same_v<Voxel, std::uint16_t> ? VoxelType::u16
                                                                      : VoxelType::f32;
    Volume volume = make_volume(size, quantity, spacing_um, type);
    std::memcpy(volume.voxels.data(), voxels.data(), std::min(volume.voxels.size(), voxels.size() * sizeof(Voxel)));
    return volume;
}

inline float* floats_of(Volume& volume) {
    return reinterpret_cast<float*>(volume.voxels.data());
}

inline const float* floats_of(const Volume& volume) {
    return reinterpret_cast<const float*>(volume.voxels.data());
}

}  // namespace echolux
