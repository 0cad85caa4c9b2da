#include "render/vk/memory.h"

#include <fmt/format.h>

#include <optional>

#include "compute/error.h"

namespace echolux::gpu {
namespace {

using Property = vk::MemoryPropertyFlagBits;

std::optional<std::uint32_t> type_with(const vk::PhysicalDeviceMemoryProperties& memory, std::uint32_t allowed,
                                       vk::MemoryPropertyFlags wanted) {
    for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
        const bool fits = (memory.memoryTypes[i].propertyFlags & wanted) == wanted;
        if (fits && (allowed & (1U << i)) != 0) return i;
    }
    return std::nullopt;
}

// The host reads uncached memory some ten times slower, hence cached where there is a choice.
std::uint32_t memory_type(const Device& device, std::uint32_t allowed, vk::MemoryPropertyFlags wanted) {
    const vk::PhysicalDeviceMemoryProperties memory = device.physical().getMemoryProperties();
    if (wanted & Property::eHostVisible) {
        if (const auto cached = type_with(memory, allowed, wanted | Property::eHostCached)) return *cached;
    }
    if (const auto plain = type_with(memory, allowed, wanted)) return *plain;
    throw Error(ErrorCode::device, fmt::format("{} has no memory that is {}", device.name(), vk::to_string(wanted)),
                "renderer", "choose another device");
}

}  // namespace

vk::raii::DeviceMemory allocated(const Device& device, const vk::MemoryRequirements& needs,
                                 vk::MemoryPropertyFlags wanted) {
    const vk::MemoryAllocateInfo facts{.allocationSize = needs.size,
                                       .memoryTypeIndex = memory_type(device, needs.memoryTypeBits, wanted)};
    return reporting("allocating graphics memory", [&] { return vk::raii::DeviceMemory(device.logical(), facts); });
}

HostBuffer::HostBuffer(const Device& device, std::size_t bytes, vk::BufferUsageFlags usage)
    : buffer_(device.logical(), vk::BufferCreateInfo{.size = bytes, .usage = usage}),
      memory_(allocated(device, buffer_.getMemoryRequirements(), Property::eHostVisible | Property::eHostCoherent)) {
    buffer_.bindMemory(*memory_, 0);
    mapped_ = {static_cast<std::byte*>(memory_.mapMemory(0, bytes)), bytes};
}

}  // namespace echolux::gpu
