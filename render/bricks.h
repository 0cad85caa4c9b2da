// The largest value in and around each brick of 4^3 voxels, so that rays skip what cannot be seen. Built on the device
// from the texture: one way for voxels of every origin.
#pragma once

#include "render/vk/image.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"

namespace echolux {

class BrickBuilder {
  public:
    BrickBuilder(const gpu::Device& device, gpu::Queue& queue);

    // Waits for what was submitted to fill `volume`. Throws Error{out_of_memory}.
    gpu::DeviceImage built(const gpu::DeviceImage& volume);

  private:
    gpu::DeviceImage reduced(const gpu::DeviceImage& source, int edge, const vk::raii::Pipeline& pipeline);

    const gpu::Device& device_;
    gpu::Queue& queue_;
    gpu::Bindings bindings_;
    vk::raii::Pipeline from_voxels_;
    vk::raii::Pipeline from_neighbours_;
};

}  // namespace echolux
