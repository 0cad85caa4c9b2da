// Device memory with a single owner each: host-visible buffers, device buffers, and buffers exported to another API on
// the same GPU. There is no suballocator because volumes and pictures are few and large.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vulkan/vulkan_raii.hpp>

#include "render/vk/device.h"

namespace echolux::gpu {

// ---- Owner of a file descriptor through which another API imports memory or a semaphore of the Vulkan driver.

class Handle {
  public:
    explicit Handle(int descriptor = -1) : descriptor_(descriptor) {}
    ~Handle();
    Handle(Handle&& other) noexcept : descriptor_(other.release()) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }

    // Passes ownership to the caller, who must close the descriptor.
    int release() { return std::exchange(descriptor_, -1); }

  private:
    int descriptor_;
};

constexpr auto exported_memory = vk::ExternalMemoryHandleTypeFlagBits::eOpaqueFd;

// Allocates memory of the first type that has all `wanted` properties. `next` extends vk::MemoryAllocateInfo. Throws
// Error{device, out_of_memory}.
vk::raii::DeviceMemory allocated(const Device& device, const vk::MemoryRequirements& needs,
                                 vk::MemoryPropertyFlags wanted, const void* next = nullptr);

// Exports memory as an opaque file descriptor, owned by the caller.
Handle exported(const Device& device, const vk::raii::DeviceMemory& memory);

// A coherent buffer in host memory, mapped for its whole lifetime.
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

// A buffer in device memory, filled by copies.
class DeviceBuffer {
  public:
    // `usage` is in addition to transfer destination.
    DeviceBuffer(const Device& device, std::size_t bytes, vk::BufferUsageFlags usage);

    vk::Buffer handle() const { return *buffer_; }

    // Fills the whole buffer from `offset` in another one.
    void record_copy_from(const vk::raii::CommandBuffer& commands, vk::Buffer buffer, vk::DeviceSize offset) const;

    // Copies `bytes` bytes at `offset` from the same offset in another buffer.
    void record_part_from(const vk::raii::CommandBuffer& commands, vk::Buffer buffer, vk::DeviceSize offset,
                          vk::DeviceSize bytes) const;

  private:
    std::size_t bytes_;
    vk::raii::Buffer buffer_;
    vk::raii::DeviceMemory memory_;
};

// A buffer in device memory that another API writes and Vulkan copies from or reads in shaders. Throws Error{device,
// out_of_memory}.
class ExportedBuffer {
  public:
    ExportedBuffer(const Device& device, std::size_t bytes,
                   vk::BufferUsageFlags usage = vk::BufferUsageFlagBits::eTransferSrc);

    vk::Buffer handle() const { return *buffer_; }
    std::int64_t memory_bytes() const { return memory_bytes_; }  // of the whole allocation, which may exceed the buffer
    Handle exported() const { return gpu::exported(device_, memory_); }

    // Transfer ownership between the other API and this queue. The content is preserved.
    void record_acquire(const vk::raii::CommandBuffer& commands) const;
    void record_release(const vk::raii::CommandBuffer& commands) const;

  private:
    vk::BufferMemoryBarrier2 ownership(std::uint32_t from, std::uint32_t to) const;

    const Device& device_;
    vk::raii::Buffer buffer_;
    std::int64_t memory_bytes_;
    vk::raii::DeviceMemory memory_;
};

}  // namespace echolux::gpu
