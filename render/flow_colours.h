// The colour map of flow as a texture for the ray caster.
#pragma once

#include <string>

#include "render/vk/image.h"
#include "render/vk/queue.h"

namespace echolux {

// Of the map of that name: 1-D, shared::flow_colour_entries from the fastest one way to the fastest the other way.
// Waits until it is done.
gpu::DeviceImage flow_colours(const gpu::Device& device, gpu::Queue& queue, const std::string& map);

}  // namespace echolux
