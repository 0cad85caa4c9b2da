// A volume of flow as a texture beside that of the structure.
#pragma once

#include <optional>

#include "render/slots/volume_texture.h"
#include "render/stats.h"
#include "render/vk/queue.h"

namespace echolux {

// Throws Error{bad_setting} where the flow is not as large as the structure, or says that it holds something else.
void check_flow(const VolumeGrid& flow, const VolumeGrid& structure);

// The values that flow spans, of phasors in radians, as long as nobody has looked: by what it measures.
ValueRange expected_flow(const VolumeGrid& grid);

// The speed that nearly all flow (99.5 %) of such a histogram stays below. Nothing: none was counted.
std::optional<double> usual_speed(const Histogram& histogram);

// The range of flow whose usual speed is that: both ways, or from 0 where it has no sign.
ValueRange flow_range_to(const VolumeGrid& grid, double speed);

// The next round number (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8 times a power of ten): how far colours reach.
double round_speed(double speed);

// Waits until it is done. Its range is that of the usual speed. Voxels that are not finite are no flow.
VolumeTexture flow_texture(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder, const VolumeGrid& grid,
                           const void* voxels);

}  // namespace echolux
