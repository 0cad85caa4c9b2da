// The picture that is the sky, on the device.
#pragma once

#include <memory>
#include <optional>

#include "render/sky_picture.h"
#include "render/vk/memory.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"

namespace echolux {

class SkyLight {
  public:
    SkyLight(const gpu::Device& device, gpu::Queue& queue) : device_(device), queue_(queue) {}

    // To the bindings of a picture. Waits for the pictures under way where it is not the one that was there. Throws
    // Error{out_of_memory}.
    void bind(gpu::Bindings& bindings, const std::shared_ptr<const SkyPicture>& sky);

  private:
    const gpu::Device& device_;
    gpu::Queue& queue_;
    std::shared_ptr<const SkyPicture> shown_;
    std::optional<gpu::DeviceBuffer> texels_;
};

}  // namespace echolux
