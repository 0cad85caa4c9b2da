// The largest value in and around each brick of 4^3 voxels, so that rays skip what cannot be seen. Built on the device
// from the texture: one way for voxels of every origin.
#pragma once

#include "render/vk/image.h"
#include "render/vk/pipeline.h"

namespace echolux {

// Of one volume texture: allocated once, built again whenever the texture has new voxels.
class Bricks {
  public:
    // Throws Error{out_of_memory}.
    Bricks(const gpu::Device& device, const gpu::DeviceImage& volume);

    const gpu::DeviceImage& maxima() const { return maxima_; }

    void record_first_use(const vk::raii::CommandBuffer& commands) const;

  private:
    friend class BrickBuilder;

    gpu::DeviceImage own_maxima_;  // of each brick alone
    gpu::DeviceImage maxima_;      // with its neighbours
    gpu::Bindings from_voxels_;
    gpu::Bindings from_neighbours_;
};

class BrickBuilder {
  public:
    explicit BrickBuilder(const gpu::Device& device);

    // From the first `slices` slices (B-scans) of the volume; of bricks beyond them nothing is known.
    void record(const vk::raii::CommandBuffer& commands, const Bricks& bricks, std::int64_t slices) const;

  private:
    gpu::Bindings bindings_;  // the layout of every set of bricks
    vk::raii::Pipeline from_voxels_;
    vk::raii::Pipeline from_neighbours_;
};

}  // namespace echolux
