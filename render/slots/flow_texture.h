// A volume of flow as a texture beside that of the structure.
#pragma once

#include "render/slots/volume_texture.h"
#include "render/vk/queue.h"

namespace echolux {

// Throws Error{bad_setting} where the flow is not as large as the structure, or says that it holds something else.
void check_flow(const VolumeGrid& flow, const VolumeGrid& structure);

// The values that flow spans where nothing is read back to find out: by what it measures.
ValueRange expected_flow(const VolumeGrid& grid);

// Waits until it is done. Its range is that of the largest speed there is, both ways, or
// from 0 where it has no sign. Voxels that are not finite are no
// flow.
VolumeTexture flow_texture(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder, const VolumeGrid& grid,
                           const void* voxels);

}  // namespace echolux
