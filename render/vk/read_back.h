// The one way by which pixels come back to the host, with a counter, so that a test can prove that nothing else does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "render/vk/image.h"
#include "render/vk/memory.h"
#include "render/vk/queue.h"

namespace echolux::gpu {

class ReadBack {
  public:
    ReadBack(const Device& device, Queue& queue) : device_(device), queue_(queue) {}

    // The pixels of a picture, row by row from the top, or the voxels of a volume, packed; valid until the next call.
    // Waits for what was submitted.
    std::span<const std::byte> pixels(const DeviceImage& image, const Chain& chain = {});

    std::int64_t bytes_read() const { return bytes_read_; }

  private:
    const Device& device_;
    Queue& queue_;
    std::optional<HostBuffer> buffer_;
    std::int64_t bytes_read_ = 0;
};

}  // namespace echolux::gpu
