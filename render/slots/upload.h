// Voxels of the host into textures, as these store them.
#pragma once

#include "render/slots/volume_texture.h"
#include "render/slots/voxel_codes.h"
#include "render/slots/voxel_source.h"
#include "render/vk/queue.h"

namespace echolux {

// Whether the texture stores 8-bit codes in 16 bits.
bool is_widened(const VolumeTexture& texture);

StoredCodes stored_codes(const VolumeTexture& texture);

// All voxels and the bricks, through a staging buffer of whole B-scans, so that large volumes need little memory
// besides. Voxels that are not finite take the nearest end of the texture's range. Waits until it is done.
void upload(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder, const VolumeTexture& texture,
            const VoxelSource& source);

}  // namespace echolux
