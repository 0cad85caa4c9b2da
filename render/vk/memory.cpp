#include "render/vk/memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>

#include "compute/error.h"

namespace echolux::gpu {
namespace {

using Property = vk::MemoryPropertyFlagBits;

// Returns the first allowed memory type with all wanted properties.
std::optional<std::uint32_t> type_with(const vk::PhysicalDeviceMemoryProperties& memory, std::uint32_t allowed,
                                       vk::MemoryPropertyFlags wanted) {
    for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
        const bool fits = (memory.memoryTypes[i].propertyFlags & wanted) == wanted;
        if (fits && (allowed & (1U << i)) != 0) return i;
    }
    return std::nullopt;
}

// Prefers cached types for host-visible memory: the host reads uncached memory about ten times slower.
std::uint32_t memory_type(const Device& device, std::uint32_t allowed, vk::MemoryPropertyFlags wanted) {
    const vk::PhysicalDeviceMemoryProperties memory = device.physical().getMemoryProperties();
    if (wanted & Property::eHostVisible) {
        if (const auto cached = type_with(memory, allowed, wanted | Property::eHostCached)) return *cached;
    }
    if (const auto plain = type_with(memory, allowed, wanted)) return *plain;
    throw Error(ErrorCode::device, fmt::format("{} has no memory that is {}", device.name(), vk::to_string(wanted)),
                "renderer", "choose another device");
}

vk::raii::Buffer create_exported_buffer(const Device& device, std::size_t bytes, vk::BufferUsageFlags usage) {
    const vk::ExternalMemoryBufferCreateInfo external{.handleTypes = exported_memory};
    return reporting("creating a shared buffer", [&] {
        return vk::raii::Buffer(device.logical(),
                                vk::BufferCreateInfo{.pNext = &external, .size = bytes, .usage = usage});
    });
}

// Dedicated, because the other API imports whole allocations.
vk::raii::DeviceMemory bound_exported_memory(const Device& device, const vk::raii::Buffer& buffer) {
    const vk::MemoryDedicatedAllocateInfo dedicated{.buffer = *buffer};
    const vk::ExportMemoryAllocateInfo shared{.pNext = &dedicated, .handleTypes = exported_memory};
    auto memory = allocated(device, buffer.getMemoryRequirements(), Property::eDeviceLocal, &shared);
    buffer.bindMemory(*memory, 0);
    return memory;
}

}  // namespace

vk::raii::DeviceMemory allocated(const Device& device, const vk::MemoryRequirements& needs,
                                 vk::MemoryPropertyFlags wanted, const void* next) {
    const vk::MemoryAllocateInfo facts{.pNext = next,
                                       .allocationSize = needs.size,
                                       .memoryTypeIndex = memory_type(device, needs.memoryTypeBits, wanted)};
    return reporting("allocating graphics memory", [&] { return vk::raii::DeviceMemory(device.logical(), facts); });
}

Handle exported(const Device& device, const vk::raii::DeviceMemory& memory) {
    return reporting("exporting graphics memory", [&] {
        return Handle(device.logical().getMemoryFdKHR({.memory = *memory, .handleType = exported_memory}));
    });
}

HostBuffer::HostBuffer(const Device& device, std::size_t bytes, vk::BufferUsageFlags usage)
    : buffer_(device.logical(), vk::BufferCreateInfo{.size = bytes, .usage = usage}),
      memory_(allocated(device, buffer_.getMemoryRequirements(), Property::eHostVisible | Property::eHostCoherent)) {
    buffer_.bindMemory(*memory_, 0);
    mapped_ = {static_cast<std::byte*>(memory_.mapMemory(0, bytes)), bytes};
}

DeviceBuffer::DeviceBuffer(const Device& device, std::size_t bytes, vk::BufferUsageFlags usage)
    : bytes_(bytes),
      buffer_(device.logical(),
              vk::BufferCreateInfo{.size = bytes, .usage = usage | vk::BufferUsageFlagBits::eTransferDst}),
      memory_(allocated(device, buffer_.getMemoryRequirements(), Property::eDeviceLocal)) {
    buffer_.bindMemory(*memory_, 0);
}

void DeviceBuffer::record_copy_from(const vk::raii::CommandBuffer& commands, vk::Buffer buffer,
                                    vk::DeviceSize offset) const {
    commands.copyBuffer(buffer, *buffer_, vk::BufferCopy{.srcOffset = offset, .size = bytes_});
}

void DeviceBuffer::record_part_from(const vk::raii::CommandBuffer& commands, vk::Buffer buffer, vk::DeviceSize offset,
                                    vk::DeviceSize bytes) const {
    commands.copyBuffer(buffer, *buffer_, vk::BufferCopy{.srcOffset = offset, .dstOffset = offset, .size = bytes});
}

ExportedBuffer::ExportedBuffer(const Device& device, std::size_t bytes, vk::BufferUsageFlags usage)
    : device_(device), buffer_(create_exported_buffer(device, bytes, usage)),
      memory_bytes_(static_cast<std::int64_t>(buffer_.getMemoryRequirements().size)),
      memory_(bound_exported_memory(device, buffer_)) {}

vk::BufferMemoryBarrier2 ExportedBuffer::ownership(std::uint32_t from, std::uint32_t to) const {
    return {.srcStageMask = vk::PipelineStageFlagBits2::eAllCommands,
            .dstStageMask = vk::PipelineStageFlagBits2::eAllCommands,
            .srcQueueFamilyIndex = from,
            .dstQueueFamilyIndex = to,
            .buffer = *buffer_,
            .size = VK_WHOLE_SIZE};
}

void ExportedBuffer::record_acquire(const vk::raii::CommandBuffer& commands) const {
    vk::BufferMemoryBarrier2 barrier = ownership(VK_QUEUE_FAMILY_EXTERNAL, device_.queue_family());
    barrier.dstAccessMask = vk::AccessFlagBits2::eMemoryRead;
    commands.pipelineBarrier2({.bufferMemoryBarrierCount = 1, .pBufferMemoryBarriers = &barrier});
}

void ExportedBuffer::record_release(const vk::raii::CommandBuffer& commands) const {
    const vk::BufferMemoryBarrier2 barrier = ownership(device_.queue_family(), VK_QUEUE_FAMILY_EXTERNAL);
    commands.pipelineBarrier2({.bufferMemoryBarrierCount = 1, .pBufferMemoryBarriers = &barrier});
}

// ---- Handle

Handle::~Handle() {
    if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace echolux::gpu
