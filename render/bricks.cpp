#include "render/bricks.h"

#include <array>

#include "shaders/shared/bricks.h"
#include "shaders/spirv.h"

namespace echolux {
namespace {

constexpr std::array binding_types{vk::DescriptorType::eSampledImage, vk::DescriptorType::eStorageImage};

std::uint32_t divided(std::uint32_t length, int by) {
    const auto step = static_cast<std::uint32_t>(by);
    return (length + step - 1) / step;
}

vk::raii::Pipeline pipeline_for(const gpu::Device& device, const gpu::Bindings& bindings, std::int32_t edge) {
    return gpu::compute_pipeline(device, bindings, spirv::brick_max, {&edge, 1});
}

}  // namespace

BrickBuilder::BrickBuilder(const gpu::Device& device, gpu::Queue& queue)
    : device_(device), queue_(queue), bindings_(device, binding_types),
      from_voxels_(pipeline_for(device, bindings_, shared::brick_edge)),
      from_neighbours_(pipeline_for(device, bindings_, 1)) {}

gpu::DeviceImage BrickBuilder::reduced(const gpu::DeviceImage& source, int edge, const vk::raii::Pipeline& pipeline) {
    const vk::Extent3D voxels = source.shape().extent;
    const vk::Extent3D extent{divided(voxels.width, edge), divided(voxels.height, edge), divided(voxels.depth, edge)};
    gpu::DeviceImage bricks(device_,
                            {vk::ImageType::e3D, vk::Format::eR32Sfloat, extent,
                             vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eStorage},
                            "brick texture");
    bindings_.set_image(shared::binding_source, source.view());
    bindings_.set_image(shared::binding_bricks, bricks.view());
    queue_.run([&](const vk::raii::CommandBuffer& commands) {
        bricks.record_first_use(commands);
        commands.bindPipeline(vk::PipelineBindPoint::eCompute, *pipeline);
        commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, bindings_.layout(), 0, bindings_.set(), {});
        commands.dispatch(divided(extent.width, shared::brick_group), divided(extent.height, shared::brick_group),
                          divided(extent.depth, shared::brick_group));
    });
    return bricks;
}

gpu::DeviceImage BrickBuilder::built(const gpu::DeviceImage& volume) {
    return reduced(reduced(volume, shared::brick_edge, from_voxels_), 1, from_neighbours_);
}

}  // namespace echolux
