// Variants of the ray caster's shader, compiled for the first picture that needs them. Each takes 0.5 MB in software
// drivers, and a window can request many combinations. A new one evicts the one unused for longest.
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

    // Returns the program for these constants. `bindings` must have the layout of the pictures. Valid until many other
    // programs have been requested.
    const vk::raii::Pipeline& of(const RaycastConstants& constants, const gpu::Bindings& bindings);

  private:
    vk::raii::Pipeline made(const RaycastConstants& constants, const gpu::Bindings& bindings) const;

    struct Program {
        vk::raii::Pipeline pipeline;
        std::uint64_t used;  // time of last use, counted in requests
    };

    const gpu::Device& device_;
    gpu::Queue& queue_;
    std::map<RaycastConstants, Program> programs_;
    std::uint64_t used_ = 0;
};

}  // namespace echolux
