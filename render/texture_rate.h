// Benchmark of texture sampling: the reference for the speed of the ray caster.
#pragma once

#include <vector>

#include "render/vk/queue.h"

namespace echolux {

// Returns the rate of trilinear samples per second for 8-bit voxels (16-bit on software Vulkan, like volumes), one
// value per repetition. Empty if the device has no timestamps.
std::vector<double> texture_rates(const gpu::Device& device, gpu::Queue& queue, int repetitions);

}  // namespace echolux
