#include "render/presentation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "compute/error.h"
#include "render/vk/pipeline.h"
#include "shaders/spirv.h"

namespace echolux {
namespace {

constexpr vk::ImageSubresourceRange whole_range{vk::ImageAspectFlagBits::eColor, 0, 1, 0, 1};
constexpr vk::ImageSubresourceLayers whole_image{vk::ImageAspectFlagBits::eColor, 0, 0, 1};
constexpr std::uint64_t timeout_ns = 50'000'000;  // a hidden window may never have a free image

// Prefers UNORM formats, because an sRGB format would encode the colours twice.
vk::SurfaceFormatKHR chosen_format(const gpu::Device& device) {
    for (const vk::SurfaceFormatKHR& format : device.physical().getSurfaceFormatsKHR(device.surface())) {
        const bool fits = format.format == vk::Format::eB8G8R8A8Unorm || format.format == vk::Format::eR8G8B8A8Unorm;
        if (fits && format.colorSpace == vk::ColorSpaceKHR::eSrgbNonlinear) return format;
    }
    throw Error(ErrorCode::device, device.name() + " cannot display 8 bits per colour in this window", "screen",
                "choose another device, or `render` without a window");
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

std::vector<vk::raii::Semaphore> create_semaphores(const gpu::Device& device, std::size_t count) {
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
      format_(gpu::reporting("querying the window", [&] { return chosen_format(device); })) {}

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
    acquired_ = create_semaphores(device_, pictures_in_flight);
    drawn_ = create_semaphores(device_, images_.size());
    extent_ = extent;
    is_stale_ = false;
    return true;
}

std::optional<WindowPicture> Swapchain::acquire(std::size_t turn, vk::Extent2D wanted) {
    return gpu::reporting("acquiring an image of the window", [&]() -> std::optional<WindowPicture> {
        for (int attempt = 0; attempt < 2; ++attempt) {  // the window may change at any time
            if (!is_made_for(wanted)) return {};
            try {
                const auto [result, number] = swapchain_->acquireNextImage(timeout_ns, *acquired_[turn]);
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

// ---- Pane copies

namespace {

// Source and destination range along one axis.
struct Part {
    std::int64_t from, from_length, to, to_length;
};

// Clips `length` pixels at `begin` to [0, size), along one axis. `pixels` is the size of the source.
std::optional<Part> part_of(std::int64_t begin, std::int64_t length, std::int64_t pixels, std::int64_t size) {
    const std::int64_t first = std::max<std::int64_t>(begin, 0);
    const std::int64_t end = std::min(begin + length, size);
    if (length < 1 || first >= end) return {};
    const std::int64_t from = (first - begin) * pixels / length;
    const std::int64_t from_end = ((end - begin) * pixels + length - 1) / length;
    return Part{from, from_end - from, first, end - first};
}

// Top left and bottom right corner, in the format of blits.
std::array<vk::Offset3D, 2> corners(const Region& region) {
    const auto at = [](std::int64_t x, std::int64_t y, std::int32_t z) {
        return vk::Offset3D{static_cast<std::int32_t>(x), static_cast<std::int32_t>(y), z};
    };
    return {at(region.left, region.top, 0), at(region.left + region.width, region.top + region.height, 1)};
}

}  // namespace

std::optional<PaneCopy> pane_copy(const Region& place, vk::Extent3D picture, vk::Extent3D screen) {
    const auto across = part_of(place.left, place.width, picture.width, screen.width);
    const auto down = part_of(place.top, place.height, picture.height, screen.height);
    if (!across || !down) return {};
    return PaneCopy{{across->from, down->from, across->from_length, down->from_length},
                    {across->to, down->to, across->to_length, down->to_length}};
}

void record_pane(const vk::raii::CommandBuffer& commands, const gpu::DeviceImage& picture, const Region& place,
                 const gpu::DeviceImage& screen) {
    constexpr auto general = vk::ImageLayout::eGeneral;
    const auto copy = pane_copy(place, picture.shape().extent, screen.shape().extent);
    if (!copy) return;
    const auto from = corners(copy->from), to = corners(copy->to);
    if (copy->is_scaled()) {
        commands.blitImage(
            picture.handle(), general, screen.handle(), general,
            vk::ImageBlit{
                .srcSubresource = whole_image, .srcOffsets = from, .dstSubresource = whole_image, .dstOffsets = to},
            vk::Filter::eLinear);
        return;
    }
    commands.copyImage(picture.handle(), general, screen.handle(), general,
                       vk::ImageCopy{.srcSubresource = whole_image,
                                     .srcOffset = from[0],
                                     .dstSubresource = whole_image,
                                     .dstOffset = to[0],
                                     .extent = {static_cast<std::uint32_t>(copy->to.width),
                                                static_cast<std::uint32_t>(copy->to.height), 1}});
}

// ---- Interface painter

namespace {

using PerPixel = std::array<float, 2>;  // scale from screen pixels to normalized device coordinates

constexpr std::array binding_types{vk::DescriptorType::eCombinedImageSampler};
constexpr auto stages = vk::ShaderStageFlagBits::eVertex | vk::ShaderStageFlagBits::eFragment;

constexpr std::array attributes{
    vk::VertexInputAttributeDescription{
        .location = 0, .format = vk::Format::eR32G32Sfloat, .offset = offsetof(InterfaceVertex, x)},
    vk::VertexInputAttributeDescription{
        .location = 1, .format = vk::Format::eR32G32Sfloat, .offset = offsetof(InterfaceVertex, u)},
    vk::VertexInputAttributeDescription{
        .location = 2, .format = vk::Format::eR8G8B8A8Unorm, .offset = offsetof(InterfaceVertex, colour)}};

// Invalid indices would make the device read outside of the buffers.
void check_parts(const InterfaceMesh& mesh) {
    for (const InterfacePart& part : mesh.parts) {
        const std::uint64_t end = std::uint64_t{part.first_index} + part.indices;
        if (end <= mesh.indices.size() && (part.indices == 0 || part.first_vertex < mesh.vertices.size())) continue;
        throw Error(ErrorCode::bad_setting,
                    fmt::format("part of the interface ends at index {} of {}", end, mesh.indices.size()), "screen");
    }
}

template <class T>
// Grows the buffer if needed. The old one must not be in use.
void fill_buffer(const gpu::Device& device, std::optional<gpu::HostBuffer>& buffer, const std::vector<T>& elements,
                 vk::BufferUsageFlags usage) {
    const std::size_t bytes = elements.size() * sizeof(T);
    if (bytes == 0) return;
    if (!buffer || buffer->bytes().size() < bytes) {
        buffer.reset();
        buffer.emplace(device, bytes + bytes / 2, usage);  // headroom for further growth
    }
    std::memcpy(buffer->bytes().data(), elements.data(), bytes);
}

// Returns the pixels whose centres are inside `clip`, limited to the picture.
vk::Rect2D scissor_of(const std::array<float, 4>& clip, vk::Extent3D extent) {
    const auto pixel = [](float edge, std::uint32_t end) {
        return static_cast<std::int32_t>(std::lround(std::clamp(edge, 0.0F, static_cast<float>(end))));
    };
    const std::int32_t left = pixel(clip[0], extent.width), top = pixel(clip[1], extent.height);
    const std::int32_t right = std::max(left, pixel(clip[2], extent.width));
    const std::int32_t bottom = std::max(top, pixel(clip[3], extent.height));
    return {{left, top}, {static_cast<std::uint32_t>(right - left), static_cast<std::uint32_t>(bottom - top)}};
}

}  // namespace

void InterfaceBuffers::fill(const gpu::Device& device, const InterfaceMesh& mesh) {
    parts_.clear();
    check_parts(mesh);
    fill_buffer(device, vertices_, mesh.vertices, vk::BufferUsageFlagBits::eVertexBuffer);
    fill_buffer(device, indices_, mesh.indices, vk::BufferUsageFlagBits::eIndexBuffer);
    parts_ = mesh.parts;
}

InterfacePainter::InterfacePainter(const gpu::Device& device, gpu::Queue& queue, vk::Format target)
    : device_(device), queue_(queue), sampler_(gpu::linear_sampler(device)),
      bindings_(device, binding_types, sizeof(PerPixel), stages),
      pipeline_(gpu::triangle_pipeline(device, bindings_, {spirv::interface_vert, spirv::interface_frag}, attributes,
                                       sizeof(InterfaceVertex), target)) {
    // Until glyphs are set, a single opaque pixel replaces them.
    constexpr std::array<std::uint8_t, 1> covered{255};
    set_glyphs(1, 1, covered);
}

void InterfacePainter::set_glyphs(std::int64_t width, std::int64_t height, std::span<const std::uint8_t> coverage) {
    if (width < 1 || height < 1 || static_cast<std::uint64_t>(width * height) != coverage.size()) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("{} x {} pixels of glyphs, {} of them given", width, height, coverage.size()),
                    "screen");
    }
    gpu::DeviceImage glyphs(device_,
                            {.format = vk::Format::eR8Unorm,
                             .extent = {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), 1},
                             .usage = vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eTransferDst},
                            fmt::format("picture of glyphs of {} x {} pixels", width, height));
    const gpu::HostBuffer staging(device_, coverage.size(), vk::BufferUsageFlagBits::eTransferSrc);
    std::memcpy(staging.bytes().data(), coverage.data(), coverage.size());
    queue_.run([&](const vk::raii::CommandBuffer& commands) {  // ordered after pictures that use the old glyphs
        glyphs.record_first_use(commands);
        glyphs.record_copy_from(commands, staging.handle(), 0);
    });
    bindings_.set_image(0, glyphs.view(), *sampler_);
    glyphs_.emplace(std::move(glyphs));
}

void InterfacePainter::record(const vk::raii::CommandBuffer& commands, const InterfaceBuffers& interface,
                              const gpu::DeviceImage& target) const {
    if (interface.parts_.empty() || !interface.indices_ || !interface.vertices_) return;
    const vk::Extent3D extent = target.shape().extent;
    const auto width = static_cast<float>(extent.width), height = static_cast<float>(extent.height);
    const vk::RenderingAttachmentInfo onto{.imageView = target.view(),
                                           .imageLayout = vk::ImageLayout::eGeneral,
                                           .loadOp = vk::AttachmentLoadOp::eLoad,
                                           .storeOp = vk::AttachmentStoreOp::eStore};
    commands.beginRendering({.renderArea = {{0, 0}, {extent.width, extent.height}},
                             .layerCount = 1,
                             .colorAttachmentCount = 1,
                             .pColorAttachments = &onto});
    commands.bindPipeline(vk::PipelineBindPoint::eGraphics, *pipeline_);
    commands.bindDescriptorSets(vk::PipelineBindPoint::eGraphics, bindings_.layout(), 0, bindings_.set(), {});
    // Maps pixels to [-1, 1], see interface.vert.
    commands.pushConstants<PerPixel>(bindings_.layout(), stages, 0, PerPixel{2 / width, 2 / height});
    commands.setViewport(0, vk::Viewport{0, 0, width, height, 0, 1});
    commands.bindVertexBuffers(0, interface.vertices_->handle(), vk::DeviceSize{0});
    commands.bindIndexBuffer(interface.indices_->handle(), 0, vk::IndexType::eUint16);
    for (const InterfacePart& part : interface.parts_) {
        const vk::Rect2D scissor = scissor_of(part.clip, extent);
        if (part.indices == 0 || scissor.extent.width == 0 || scissor.extent.height == 0) continue;
        commands.setScissor(0, scissor);
        commands.drawIndexed(part.indices, 1, part.first_index, static_cast<std::int32_t>(part.first_vertex), 0);
    }
    commands.endRendering();
}

}  // namespace echolux
