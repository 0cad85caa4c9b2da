// Memory that one buffer or image owns alone, and buffers that the host can see. There is no allocator: volumes and
// pictures are few and large.
#pragma once

#include <vulkan/vulkan_raii.hpp>

#include <cstddef>
#include <span>

#include "render/vk/device.h"

namespace echolux::gpu {

// Memory of the first type that has all `wanted` properties. Throws Error{device, out_of_memory}.
vk::raii::DeviceMemory allocated(const Device& device, const vk::MemoryRequirements& needs,
                                 vk::MemoryPropertyFlags wanted);

// A buffer in host memory, mapped as long as it lives, coherent.
class HostBuffer {
  public:
    HostBuffer(const Device& device, std::size_t bytes, vk::BufferUsageFlags usage);

    vk::Buffer handle() const { return *buffer_; }
    std::span<std::byte> bytes() const { return mapped_; }

  private:
    vk::raii::Buffer buffer_;
    vk::raii::DeviceMemory memory_;
    std::span<std::byte> mapped_;
};

}  // namespace echolux::gpu
