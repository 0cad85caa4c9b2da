#include "render/bricks.h"

#include <array>

#include "render/vk/queue.h"
#include "shaders/shared/bricks.h"
#include "shaders/spirv.h"

namespace echolux {
namespace {

constexpr std::array binding_types{vk::DescriptorType::eSampledImage, vk::DescriptorType::eStorageImage};
constexpr std::uint32_t push_bytes = sizeof(std::int32_t);

std::uint32_t divided(std::uint32_t length, int by) {
    const auto step = static_cast<std::uint32_t>(by);
    return (length + step - 1) / step;
}

gpu::DeviceImage made_maxima(const gpu::Device& device, const gpu::DeviceImage& source, int edge) {
    const vk::Extent3D voxels = source.shape().extent;
    return {device,
            {.type = vk::ImageType::e3D,
             .format = vk::Format::eR32Sfloat,
             .extent = {divided(voxels.width, edge), divided(voxels.height, edge), divided(voxels.depth, edge)},
             .usage = vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eStorage},
            "brick texture"};
}

gpu::Bindings bound(const gpu::Device& device, const gpu::DeviceImage& source, const gpu::DeviceImage& target) {
    gpu::Bindings bindings(device, binding_types, push_bytes);
    bindings.set_image(shared::binding_brick_source, source.view());
    bindings.set_image(shared::binding_brick_target, target.view());
    return bindings;
}

vk::raii::Pipeline pipeline_for(const gpu::Device& device, const gpu::Bindings& bindings, std::int32_t edge,
                                std::int32_t around) {
    const std::array constants{edge, around};
    return gpu::compute_pipeline(device, bindings, spirv::brick_max, constants);
}

void record_pass(const vk::raii::CommandBuffer& commands, const vk::raii::Pipeline& pipeline,
                 const gpu::Bindings& bindings, vk::Extent3D target, std::int32_t slices) {
    commands.bindPipeline(vk::PipelineBindPoint::eCompute, *pipeline);
    commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, bindings.layout(), 0, bindings.set(), {});
    commands.pushConstants<std::int32_t>(bindings.layout(), vk::ShaderStageFlagBits::eCompute, 0, slices);
    commands.dispatch(divided(target.width, shared::brick_group), divided(target.height, shared::brick_group),
                      divided(target.depth, shared::brick_group));
}

}  // namespace

Bricks::Bricks(const gpu::Device& device, const gpu::DeviceImage& volume)
    : own_maxima_(made_maxima(device, volume, shared::brick_edge)), maxima_(made_maxima(device, own_maxima_, 1)),
      from_voxels_(bound(device, volume, own_maxima_)), from_neighbours_(bound(device, own_maxima_, maxima_)) {}

void Bricks::record_first_use(const vk::raii::CommandBuffer& commands) const {
    own_maxima_.record_first_use(commands);
    maxima_.record_first_use(commands);
}

BrickBuilder::BrickBuilder(const gpu::Device& device)
    : bindings_(device, binding_types, push_bytes),
      from_voxels_(pipeline_for(device, bindings_, shared::brick_edge, 0)),
      from_neighbours_(pipeline_for(device, bindings_, 1, 1)) {}

void BrickBuilder::record(const vk::raii::CommandBuffer& commands, const Bricks& bricks, std::int64_t slices) const {
    const vk::Extent3D extent = bricks.maxima_.shape().extent;
    record_pass(commands, from_voxels_, bricks.from_voxels_, extent, static_cast<std::int32_t>(slices));
    gpu::record_order(commands);
    record_pass(commands, from_neighbours_, bricks.from_neighbours_, extent, static_cast<std::int32_t>(extent.depth));
}

}  // namespace echolux
