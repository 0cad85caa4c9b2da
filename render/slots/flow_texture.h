// A volume of flow as a texture, next to that of the structure. Flow is a velocity, a phasor (phase and confidence) or
// an angiogram.
#pragma once

#include <optional>

#include "render/slots/volume_texture.h"
#include "render/stats.h"
#include "render/vk/queue.h"

namespace echolux {

// Throws Error{bad_setting} if the flow differs in size from the structure or its quantity is not a flow.
void check_flow(const VolumeGrid& flow, const VolumeGrid& structure);

// Returns the range of flow values to expect from the quantity and unit alone. Phasors are in radians.
ValueRange expected_flow(const VolumeGrid& grid);

// Returns the 99.5th percentile of the counted speeds. Empty if nothing was counted.
std::optional<double> usual_speed(const Histogram& histogram);

// Returns the range up to `speed`: [-speed, speed] for velocities, [0, speed] for flow without a sign.
ValueRange flow_range_to(const VolumeGrid& grid, double speed);

// Rounds up to 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten. Used for the end of the colour scale.
double round_speed(double speed);

// Uploads flow and waits for it. The texture's range reaches to the usual speed. Voxels that are not finite
// become zero flow.
VolumeTexture flow_texture(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder, const VolumeGrid& grid,
                           const void* voxels);

}  // namespace echolux
