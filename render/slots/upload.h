// Voxels of the host into textures, as these store them.
#pragma once

#include <cstddef>
#include <span>

#include "render/slots/volume_texture.h"
#include "render/vk/queue.h"

namespace echolux {

// Of the i-th voxel; of real types.
double value_at(const VolumeGrid& grid, const void* voxels, std::int64_t i);

// 1st and 99.9th percentile of evenly spaced voxels; low < high always.
ValueRange percentiles_of(const VolumeGrid& grid, const void* voxels);

// Whether the texture stores 8-bit codes in 16 bits.
bool is_widened(const VolumeTexture& texture);
void widen(std::span<std::byte> target, const std::byte* codes);
void narrow(std::span<std::byte> target, const std::byte* widened);

// All voxels and the bricks, through a staging buffer of whole B-scans, so that large volumes need little memory
// besides. Voxels that are not finite take the nearest end of the texture's range. Waits until it is done.
void upload(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder, const VolumeTexture& texture,
            const void* voxels);

}  // namespace echolux
