// The sky picture on the device.
#pragma once

#include <memory>
#include <optional>

#include "render/sky_picture.h"
#include "render/vk/memory.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"

namespace echolux {

// Uploads a sky picture when it changes.
class SkyLight {
  public:
    SkyLight(const gpu::Device& device, gpu::Queue& queue) : device_(device), queue_(queue) {}

    // Sets the bindings of a picture. Waits for pictures in flight if the sky has changed. Throws Error{out_of_memory}.
    void bind(gpu::Bindings& bindings, const std::shared_ptr<const SkyPicture>& sky);

  private:
    const gpu::Device& device_;
    gpu::Queue& queue_;
    std::shared_ptr<const SkyPicture> shown_;
    std::optional<gpu::DeviceBuffer> texels_;
};

}  // namespace echolux
