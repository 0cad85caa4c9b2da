// Height maps as a texture over the lateral plane: x = A-scans, y = B-scans. The two channels are the depths of the top
// and bottom surface in um; 0 where a map is missing.
#pragma once

#include "render/heights.h"
#include "render/vk/image.h"
#include "render/vk/queue.h"

namespace echolux {

// Uploads the maps and waits for them. The format is RG32F.
gpu::DeviceImage height_texture(const gpu::Device& device, gpu::Queue& queue, const HeightMaps& maps);

}  // namespace echolux
