// What the ray caster's speed is set against: how fast a shader that does nothing else samples a 3-D texture.
#pragma once

#include <vector>

#include "render/vk/queue.h"

namespace echolux {

// Trilinear samples a second of 8-bit voxels (16-bit on software Vulkan, as volumes are), one figure a repetition;
// empty where the device keeps no time.
std::vector<double> texture_rates(const gpu::Device& device, gpu::Queue& queue, int repetitions);

}  // namespace echolux
