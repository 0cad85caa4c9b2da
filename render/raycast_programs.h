// Variants of the ray caster's shader, compiled when a picture first needs them. A window in which everything is tried
// would gather one for each combination, half a MB each in a software driver: the one that was not used for the longest
// time makes room.
#pragma once

#include <cstdint>
#include <map>

#include "render/light_volume.h"  // RaycastConstants
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"

namespace echolux {

class RaycastPrograms {
  public:
    RaycastPrograms(const gpu::Device& device, gpu::Queue& queue) : device_(device), queue_(queue) {}

    // `bindings`: like those of the pictures that it makes. Stays until many others were asked for.
    const vk::raii::Pipeline& of(const RaycastConstants& constants, const gpu::Bindings& bindings);

  private:
    vk::raii::Pipeline made(const RaycastConstants& constants, const gpu::Bindings& bindings) const;

    struct Program {
        vk::raii::Pipeline pipeline;
        std::uint64_t used;  // when it was asked for last
    };

    const gpu::Device& device_;
    gpu::Queue& queue_;
    std::map<RaycastConstants, Program> programs_;
    std::uint64_t used_ = 0;
};

}  // namespace echolux
