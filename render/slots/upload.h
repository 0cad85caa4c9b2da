// Uploads voxels from the host to textures in the texture's format.
#pragma once

#include "render/slots/volume_texture.h"
#include "render/slots/voxel_codes.h"
#include "render/slots/voxel_source.h"
#include "render/vk/queue.h"

namespace echolux {

// Returns true if the texture stores 8-bit codes in 16 bits.
bool is_widened(const VolumeTexture& texture);

// Returns the converter from the volume's codes to the texture's format.
StoredCodes stored_codes(const VolumeTexture& texture);

// Uploads all voxels and builds the bricks, then waits for the device. The staging buffer holds a few whole B-scans, so
// large volumes need little extra memory. Voxels that are not finite become the nearest end of the texture's range.
void upload(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder, const VolumeTexture& texture,
            const VoxelSource& source);

}  // namespace echolux
