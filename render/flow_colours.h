// Colour map of flow as a texture for the ray caster.
#pragma once

#include <string>

#include "render/vk/image.h"
#include "render/vk/queue.h"

namespace echolux {

// Uploads a colour map as a 1-D texture of shared::flow_colour_entries colours, from the fastest flow in one direction
// to the fastest in the other. Waits for the upload.
gpu::DeviceImage flow_colours(const gpu::Device& device, gpu::Queue& queue, const std::string& map);

}  // namespace echolux
