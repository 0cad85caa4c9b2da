#include "render/present/interface_painter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "compute/error.h"
#include "render/vk/graphics_pipeline.h"
#include "shaders/spirv.h"

namespace echolux {
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
                    fmt::format("a part of the interface ends at index {} of {}", end, mesh.indices.size()), "screen");
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

void DrawnInterface::fill(const gpu::Device& device, const InterfaceMesh& mesh) {
    parts_.clear();
    check_parts(mesh);
    fill_buffer(device, vertices_, mesh.vertices, vk::BufferUsageFlagBits::eVertexBuffer);
    fill_buffer(device, indices_, mesh.indices, vk::BufferUsageFlagBits::eIndexBuffer);
    parts_ = mesh.parts;
}

InterfacePainter::InterfacePainter(const gpu::Device& device, gpu::Queue& queue, vk::Format target)
    : device_(device), queue_(queue),
      sampler_(device.logical(), vk::SamplerCreateInfo{.magFilter = vk::Filter::eLinear,
                                                       .minFilter = vk::Filter::eLinear,
                                                       .addressModeU = vk::SamplerAddressMode::eClampToEdge,
                                                       .addressModeV = vk::SamplerAddressMode::eClampToEdge}),
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

void InterfacePainter::record(const vk::raii::CommandBuffer& commands, const DrawnInterface& interface,
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
