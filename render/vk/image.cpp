#include "render/vk/image.h"

#include <fmt/format.h>

#include <vulkan/vulkan_format_traits.hpp>

#include "compute/error.h"
#include "render/vk/memory.h"

namespace echolux::gpu {
namespace {

constexpr vk::ImageSubresourceRange whole_range{vk::ImageAspectFlagBits::eColor, 0, 1, 0, 1};
constexpr vk::ImageSubresourceLayers whole_image{vk::ImageAspectFlagBits::eColor, 0, 0, 1};
constexpr double gib = 1024.0 * 1024.0 * 1024.0;

[[noreturn]] void refuse(const Device& device, const std::string& what, const std::string& why) {
    throw Error(ErrorCode::out_of_memory, fmt::format("the {} is too large for {}: {}", what, device.name(), why),
                "renderer", "crop it, store voxels with fewer bytes, or choose another device");
}

// Chained to the create info of exported images.
constexpr vk::ExternalMemoryImageCreateInfo external{.handleTypes = exported_memory};

vk::ImageCreateInfo creation(const ImageShape& shape) {
    return {.pNext = shape.sharing == Sharing::exported ? &external : nullptr,
            .imageType = shape.type,
            .format = shape.format,
            .extent = shape.extent,
            .mipLevels = 1,
            .arrayLayers = 1,
            .samples = vk::SampleCountFlagBits::e1,
            .tiling = vk::ImageTiling::eOptimal,
            .usage = shape.usage,
            .initialLayout = vk::ImageLayout::eUndefined};
}

vk::Extent3D max_extent(const Device& device, const ImageShape& shape) {
    return device.physical()
        .getImageFormatProperties(shape.format, shape.type, vk::ImageTiling::eOptimal, shape.usage)
        .maxExtent;
}

bool is_within(const vk::Extent3D& extent, const vk::Extent3D& limit) {
    return extent.width <= limit.width && extent.height <= limit.height && extent.depth <= limit.depth;
}

// Refuses images above the device's extent limits.
void check_extent(const Device& device, const ImageShape& shape, const std::string& what) {
    const vk::Extent3D limit = max_extent(device, shape);
    if (is_within(shape.extent, limit)) return;
    refuse(device, what, fmt::format("at most {} x {} x {}", limit.width, limit.height, limit.depth));
}

// Returns the size of an image before it is created (maintenance4).
vk::DeviceSize bytes_needed(const Device& device, const ImageShape& shape) {
    const vk::ImageCreateInfo facts = creation(shape);
    return device.logical()
        .getImageMemoryRequirements(vk::DeviceImageMemoryRequirements{.pCreateInfo = &facts})
        .memoryRequirements.size;
}

vk::DeviceSize largest_allocation(const Device& device) {
    const auto properties =
        device.physical().getProperties2<vk::PhysicalDeviceProperties2, vk::PhysicalDeviceVulkan11Properties>();
    return properties.get<vk::PhysicalDeviceVulkan11Properties>().maxMemoryAllocationSize;
}

// Refuses images above the largest allocation or the largest heap, before the driver fails with less detail.
void check_bytes(const Device& device, const ImageShape& shape, const std::string& what) {
    const vk::DeviceSize bytes = bytes_needed(device, shape);
    const vk::PhysicalDeviceMemoryProperties memory = device.physical().getMemoryProperties();
    vk::DeviceSize largest_heap = 0;
    for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
        largest_heap = std::max(largest_heap, memory.memoryHeaps[i].size);
    }
    const vk::DeviceSize max_bytes = std::min(largest_allocation(device), largest_heap);
    if (bytes > max_bytes) {
        refuse(device, what,
               fmt::format("needs {:.2f} GiB as {}, at most {:.2f} GiB are possible", static_cast<double>(bytes) / gib,
                           vk::to_string(shape.format), static_cast<double>(max_bytes) / gib));
    }
}

vk::raii::Image create_image(const Device& device, const ImageShape& shape, const std::string& what) {
    return reporting("creating a texture", [&] {
        check_extent(device, shape, what);
        check_bytes(device, shape, what);
        return vk::raii::Image(device.logical(), creation(shape));
    });
}

vk::raii::ImageView create_view(const Device& device, const vk::raii::Image& image, const ImageShape& shape) {
    const vk::ImageViewType type = shape.type == vk::ImageType::e1D   ? vk::ImageViewType::e1D
                                   : shape.type == vk::ImageType::e2D ? vk::ImageViewType::e2D
                                                                      : vk::ImageViewType::e3D;
    return {device.logical(),
            vk::ImageViewCreateInfo{
                .image = *image, .viewType = type, .format = shape.format, .subresourceRange = whole_range}};
}

// Each image has a dedicated allocation: the other API imports whole allocations.
vk::raii::DeviceMemory bound_memory(const Device& device, const vk::raii::Image& image, Sharing sharing) {
    const vk::MemoryDedicatedAllocateInfo dedicated{.image = *image};
    const vk::ExportMemoryAllocateInfo shared{.pNext = &dedicated, .handleTypes = exported_memory};
    auto memory = allocated(device, image.getMemoryRequirements(), vk::MemoryPropertyFlagBits::eDeviceLocal,
                            sharing == Sharing::exported ? &shared : nullptr);
    image.bindMemory(*memory, 0);
    return memory;
}

}  // namespace

std::int64_t free_bytes(const Device& device) {
    vk::PhysicalDeviceMemoryBudgetPropertiesEXT budget;
    vk::PhysicalDeviceMemoryProperties2 facts{.pNext = device.reports_budget() ? &budget : nullptr};
    (*device.physical()).getMemoryProperties2(&facts, *device.physical().getDispatcher());
    vk::DeviceSize max_bytes = 0;
    for (std::uint32_t i = 0; i < facts.memoryProperties.memoryHeapCount; ++i) {
        const vk::MemoryHeap& heap = facts.memoryProperties.memoryHeaps[i];
        if (!(heap.flags & vk::MemoryHeapFlagBits::eDeviceLocal)) continue;
        // The usage may exceed the budget if other programs compete for memory.
        const vk::DeviceSize used = std::min(budget.heapUsage[i], budget.heapBudget[i]);
        max_bytes = std::max(max_bytes, device.reports_budget() ? budget.heapBudget[i] - used : heap.size);
    }
    return static_cast<std::int64_t>(max_bytes);
}

ImageRoom room_for(const Device& device, const ImageShape& shape) {
    const vk::Extent3D limit = max_extent(device, shape);
    const auto free = static_cast<vk::DeviceSize>(free_bytes(device));
    return {.edge = std::min({limit.width, limit.height, limit.depth}),
            .bytes = static_cast<std::int64_t>(std::min(largest_allocation(device), free - free / 8))};
}

bool fits(const Device& device, const ImageShape& shape) {
    return is_within(shape.extent, max_extent(device, shape)) &&
           static_cast<std::int64_t>(bytes_needed(device, shape)) <= room_for(device, shape).bytes;
}

bool can_export(const Device& device, const ImageShape& shape) {
    if (!device.exports_memory()) return false;
    const vk::PhysicalDeviceExternalImageFormatInfo handle{.handleType = exported_memory};
    const vk::PhysicalDeviceImageFormatInfo2 facts{.pNext = &handle,
                                                   .format = shape.format,
                                                   .type = shape.type,
                                                   .tiling = vk::ImageTiling::eOptimal,
                                                   .usage = shape.usage};
    try {
        const auto chain =
            device.physical().getImageFormatProperties2<vk::ImageFormatProperties2, vk::ExternalImageFormatProperties>(
                facts);
        return static_cast<bool>(
            chain.get<vk::ExternalImageFormatProperties>().externalMemoryProperties.externalMemoryFeatures &
            vk::ExternalMemoryFeatureFlagBits::eExportable);
    } catch (const vk::FormatNotSupportedError&) {
        return false;
    }
}

vk::raii::Sampler linear_sampler(const Device& device, vk::SamplerAddressMode mode, vk::BorderColor outside) {
    return {device.logical(), vk::SamplerCreateInfo{.magFilter = vk::Filter::eLinear,
                                                    .minFilter = vk::Filter::eLinear,
                                                    .addressModeU = mode,
                                                    .addressModeV = mode,
                                                    .addressModeW = mode,
                                                    .borderColor = outside}};
}

DeviceImage::DeviceImage(const Device& device, const ImageShape& shape, const std::string& what)
    : device_(&device), shape_(shape), image_(create_image(device, shape, what)),
      memory_bytes_(static_cast<std::int64_t>(image_.getMemoryRequirements().size)),
      memory_(bound_memory(device, image_, shape.sharing)), view_(create_view(device, image_, shape)) {}

Handle DeviceImage::exported() const {
    return gpu::exported(*device_, memory_);
}

void DeviceImage::record_first_use(const vk::raii::CommandBuffer& commands) const {
    const vk::ImageMemoryBarrier2 barrier{
        .srcStageMask = vk::PipelineStageFlagBits2::eNone,
        .dstStageMask = vk::PipelineStageFlagBits2::eAllCommands,
        .dstAccessMask = vk::AccessFlagBits2::eMemoryRead | vk::AccessFlagBits2::eMemoryWrite,
        .oldLayout = vk::ImageLayout::eUndefined,
        .newLayout = vk::ImageLayout::eGeneral,
        .image = *image_,
        .subresourceRange = whole_range};
    commands.pipelineBarrier2({.imageMemoryBarrierCount = 1, .pImageMemoryBarriers = &barrier});
}

void DeviceImage::record_clear(const vk::raii::CommandBuffer& commands, const std::array<float, 4>& colour) const {
    commands.clearColorImage(*image_, vk::ImageLayout::eGeneral, vk::ClearColorValue{colour}, whole_range);
}

// Queue family ownership transfer. The layout is the same on both sides, so the content is not converted.
vk::ImageMemoryBarrier2 DeviceImage::ownership(std::uint32_t from, std::uint32_t to) const {
    return {.oldLayout = vk::ImageLayout::eGeneral,
            .newLayout = vk::ImageLayout::eGeneral,
            .srcQueueFamilyIndex = from,
            .dstQueueFamilyIndex = to,
            .image = *image_,
            .subresourceRange = whole_range};
}

void DeviceImage::record_acquire(const vk::raii::CommandBuffer& commands) const {
    vk::ImageMemoryBarrier2 barrier = ownership(VK_QUEUE_FAMILY_EXTERNAL, device_->queue_family());
    barrier.srcStageMask = vk::PipelineStageFlagBits2::eAllCommands;  // follows the wait for the other API's timeline
    barrier.dstStageMask = vk::PipelineStageFlagBits2::eAllCommands;
    barrier.dstAccessMask = vk::AccessFlagBits2::eMemoryRead | vk::AccessFlagBits2::eMemoryWrite;
    commands.pipelineBarrier2({.imageMemoryBarrierCount = 1, .pImageMemoryBarriers = &barrier});
}

void DeviceImage::record_release(const vk::raii::CommandBuffer& commands) const {
    vk::ImageMemoryBarrier2 barrier = ownership(device_->queue_family(), VK_QUEUE_FAMILY_EXTERNAL);
    barrier.srcStageMask = vk::PipelineStageFlagBits2::eAllCommands;
    barrier.srcAccessMask = vk::AccessFlagBits2::eMemoryWrite;
    barrier.dstStageMask = vk::PipelineStageFlagBits2::eAllCommands;  // precedes the signal to the other API
    commands.pipelineBarrier2({.imageMemoryBarrierCount = 1, .pImageMemoryBarriers = &barrier});
}

void DeviceImage::record_copy_from(const vk::raii::CommandBuffer& commands, vk::Buffer buffer, vk::DeviceSize offset,
                                   std::uint32_t first, std::uint32_t count) const {
    record_box_from(commands, buffer, offset, {0, 0, static_cast<std::int32_t>(first)},
                    {shape_.extent.width, shape_.extent.height, count});
}

void DeviceImage::record_box_from(const vk::raii::CommandBuffer& commands, vk::Buffer buffer, vk::DeviceSize offset,
                                  vk::Offset3D first, vk::Extent3D extent) const {
    commands.copyBufferToImage(
        buffer, *image_, vk::ImageLayout::eGeneral,
        vk::BufferImageCopy{
            .bufferOffset = offset, .imageSubresource = whole_image, .imageOffset = first, .imageExtent = extent});
}

void DeviceImage::record_copy_to(const vk::raii::CommandBuffer& commands, vk::Buffer buffer) const {
    commands.copyImageToBuffer(*image_, vk::ImageLayout::eGeneral, buffer,
                               vk::BufferImageCopy{.imageSubresource = whole_image, .imageExtent = shape_.extent});
}

std::int64_t DeviceImage::bytes_per_pixel() const {
    return vk::blockSize(shape_.format);
}

}  // namespace echolux::gpu
