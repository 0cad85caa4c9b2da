#include "render/present/swapchain.h"

#include <algorithm>

#include "compute/error.h"

namespace echolux {
namespace {

constexpr vk::ImageSubresourceRange whole_range{vk::ImageAspectFlagBits::eColor, 0, 1, 0, 1};
constexpr vk::ImageSubresourceLayers whole_image{vk::ImageAspectFlagBits::eColor, 0, 0, 1};
constexpr std::uint64_t patience_ns = 50'000'000;  // a hidden window may never have a free image

// Prefers UNORM formats, because an sRGB format would encode the colours twice.
vk::SurfaceFormatKHR chosen_format(const gpu::Device& device) {
    for (const vk::SurfaceFormatKHR& format : device.physical().getSurfaceFormatsKHR(device.surface())) {
        const bool fits = format.format == vk::Format::eB8G8R8A8Unorm || format.format == vk::Format::eR8G8B8A8Unorm;
        if (fits && format.colorSpace == vk::ColorSpaceKHR::eSrgbNonlinear) return format;
    }
    throw Error(ErrorCode::device, device.name() + " cannot show pictures with 8 bits per colour in this window",
                "screen", "choose another device, or `render` without a window");
}

// Opaque if possible: the canvas has no transparency that the window system should blend.
vk::CompositeAlphaFlagBitsKHR chosen_alpha(vk::CompositeAlphaFlagsKHR there) {
    using enum vk::CompositeAlphaFlagBitsKHR;
    return there & eOpaque          ? eOpaque
           : there & eInherit       ? eInherit
           : there & ePreMultiplied ? ePreMultiplied
                                    : ePostMultiplied;
}

// Returns the window's size, or the clamped request if the window adapts to its images.
vk::Extent2D extent_for(const vk::SurfaceCapabilitiesKHR& surface, vk::Extent2D wanted) {
    if (surface.currentExtent.width != UINT32_MAX) return surface.currentExtent;
    const auto [min, max] = std::pair(surface.minImageExtent, surface.maxImageExtent);
    return {std::clamp(wanted.width, min.width, max.width), std::clamp(wanted.height, min.height, max.height)};
}

std::vector<vk::raii::Semaphore> made_semaphores(const gpu::Device& device, std::size_t count) {
    std::vector<vk::raii::Semaphore> semaphores;
    for (std::size_t i = 0; i < count; ++i) semaphores.emplace_back(device.logical(), vk::SemaphoreCreateInfo{});
    return semaphores;
}

void record_layout(const vk::raii::CommandBuffer& commands, vk::Image image, vk::ImageLayout from, vk::ImageLayout to) {
    const vk::ImageMemoryBarrier2 barrier{
        .srcStageMask = vk::PipelineStageFlagBits2::eAllCommands,
        .srcAccessMask = vk::AccessFlagBits2::eMemoryWrite,
        .dstStageMask = vk::PipelineStageFlagBits2::eAllCommands,
        .dstAccessMask = vk::AccessFlagBits2::eMemoryRead | vk::AccessFlagBits2::eMemoryWrite,
        .oldLayout = from,
        .newLayout = to,
        .image = image,
        .subresourceRange = whole_range};
    commands.pipelineBarrier2({.imageMemoryBarrierCount = 1, .pImageMemoryBarriers = &barrier});
}

}  // namespace

Swapchain::Swapchain(const gpu::Device& device, gpu::Queue& queue)
    : device_(device), queue_(queue),
      format_(gpu::reporting("asking the window", [&] { return chosen_format(device); })) {}

Swapchain::~Swapchain() {
    queue_.settle();
}

vk::SwapchainCreateInfoKHR Swapchain::creation(const vk::SurfaceCapabilitiesKHR& surface, vk::Extent2D extent) const {
    // maxImageCount of 0 means no limit.
    const std::uint32_t max_images = surface.maxImageCount > 0 ? surface.maxImageCount : UINT32_MAX;
    return {.surface = device_.surface(),
            .minImageCount = std::min(surface.minImageCount + 1, max_images),
            .imageFormat = format_.format,
            .imageColorSpace = format_.colorSpace,
            .imageExtent = extent,
            .imageArrayLayers = 1,
            .imageUsage = vk::ImageUsageFlagBits::eTransferDst,
            .imageSharingMode = vk::SharingMode::eExclusive,
            .preTransform = surface.currentTransform,
            .compositeAlpha = chosen_alpha(surface.supportedCompositeAlpha),
            .presentMode = vk::PresentModeKHR::eFifo,
            .clipped = true,
            .oldSwapchain = swapchain_ ? **swapchain_ : vk::SwapchainKHR{}};
}

// Rebuilds a stale swapchain. Returns false if the window has no pixels.
bool Swapchain::is_made_for(vk::Extent2D wanted) {
    if (!is_stale_) return true;
    const vk::SurfaceCapabilitiesKHR surface = device_.physical().getSurfaceCapabilitiesKHR(device_.surface());
    const vk::Extent2D extent = extent_for(surface, wanted);
    if (extent.width == 0 || extent.height == 0) return false;
    queue_.settle();
    vk::raii::SwapchainKHR made(device_.logical(), creation(surface, extent));
    swapchain_.emplace(std::move(made));
    images_ = swapchain_->getImages();
    acquired_ = made_semaphores(device_, pictures_under_way);
    drawn_ = made_semaphores(device_, images_.size());
    extent_ = extent;
    is_stale_ = false;
    return true;
}

std::optional<WindowPicture> Swapchain::acquire(std::size_t turn, vk::Extent2D wanted) {
    return gpu::reporting("getting a picture of the window", [&]() -> std::optional<WindowPicture> {
        for (int attempt = 0; attempt < 2; ++attempt) {  // the window may change at any time
            if (!is_made_for(wanted)) return {};
            try {
                const auto [result, number] = swapchain_->acquireNextImage(patience_ns, *acquired_[turn]);
                if (result == vk::Result::eTimeout || result == vk::Result::eNotReady) return {};
                if (result == vk::Result::eSuboptimalKHR) renew();  // present this image first
                return WindowPicture{number, images_[number], *acquired_[turn], *drawn_[number]};
            } catch (const vk::OutOfDateKHRError&) {
                renew();
            }
        }
        return {};
    });
}

void Swapchain::record_copy(const vk::raii::CommandBuffer& commands, const WindowPicture& to,
                            const gpu::DeviceImage& from) const {
    constexpr auto filled = vk::ImageLayout::eTransferDstOptimal;
    const vk::Extent3D there = from.shape().extent;
    const std::uint32_t width = std::min(there.width, extent_.width), height = std::min(there.height, extent_.height);
    // The old content is discarded.
    record_layout(commands, to.image, vk::ImageLayout::eUndefined, filled);
    if (width < extent_.width || height < extent_.height) {
        commands.clearColorImage(to.image, filled, vk::ClearColorValue{}, whole_range);
        gpu::record_order(commands);
    }
    if (format_.format == from.shape().format) {
        commands.copyImage(
            from.handle(), vk::ImageLayout::eGeneral, to.image, filled,
            vk::ImageCopy{.srcSubresource = whole_image, .dstSubresource = whole_image, .extent = {width, height, 1}});
    } else {
        // Blits convert between RGBA and BGRA.
        const vk::Offset3D end(static_cast<std::int32_t>(width), static_cast<std::int32_t>(height), 1);
        const std::array corners{vk::Offset3D{}, end};
        commands.blitImage(from.handle(), vk::ImageLayout::eGeneral, to.image, filled,
                           vk::ImageBlit{.srcSubresource = whole_image,
                                         .srcOffsets = corners,
                                         .dstSubresource = whole_image,
                                         .dstOffsets = corners},
                           vk::Filter::eNearest);
    }
    record_layout(commands, to.image, filled, vk::ImageLayout::ePresentSrcKHR);
}

void Swapchain::present(const WindowPicture& picture) {
    if (queue_.present(**swapchain_, picture.number, picture.drawn) != vk::Result::eSuccess) renew();
}

}  // namespace echolux
