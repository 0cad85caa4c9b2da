// Height maps as a texture over the lateral plane: x = A-scans, y = B-scans, depths in um of top and bottom; 0 where a
// map is missing.
#pragma once

#include "render/heights.h"
#include "render/vk/image.h"
#include "render/vk/queue.h"

namespace echolux {

// Waits until it is done.
gpu::DeviceImage height_texture(const gpu::Device& device, gpu::Queue& queue, const HeightMaps& maps);

}  // namespace echolux
