// One volume as a 3-D texture: x = depth (fastest), y = A-scans, z = B-scans. Voxels keep their type where the device
// filters it well: software Vulkan filters 8-bit textures with 8-bit weights, hence R16 there.
#pragma once

#include "compute/types.h"
#include "render/transfer_function.h"
#include "render/vk/image.h"
#include "render/vk/queue.h"

namespace echolux {

class VolumeTexture {
  public:
    // Uploads grid.bytes() from `voxels`. Voxels that are not finite take the nearest end of the percentile range.
    // Throws Error{bad_setting} for what cannot be shown (complex voxels, no voxels, scale 0), Error{out_of_memory}
    // before allocating when the device cannot hold it.
    VolumeTexture(const gpu::Device& device, gpu::Queue& queue, const VolumeGrid& grid, const void* voxels);

    const VolumeGrid& grid() const { return grid_; }
    const gpu::DeviceImage& image() const { return image_; }
    const ValueRange& percentiles() const { return percentiles_; }  // 1st and 99.9th

    // value = texture value * scale() + offset()
    double scale() const { return scale_; }
    double offset() const { return grid_.offset; }

  private:
    VolumeGrid grid_;
    double scale_;
    ValueRange percentiles_;
    gpu::DeviceImage image_;
};

}  // namespace echolux
