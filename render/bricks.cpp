#include "render/bricks.h"

#include <array>

#include "render/vk/queue.h"
#include "shaders/spirv.h"

namespace echolux {
namespace {

constexpr std::array range_types{vk::DescriptorType::eCombinedImageSampler, vk::DescriptorType::eCombinedImageSampler,
                                 vk::DescriptorType::eStorageImage};
constexpr std::array dilate_types{vk::DescriptorType::eSampledImage, vk::DescriptorType::eStorageImage};
constexpr std::array class_types{vk::DescriptorType::eSampledImage, vk::DescriptorType::eSampledImage,
                                 vk::DescriptorType::eStorageImage};

// Small bricks follow the volume more closely; the larger ones of large volumes keep their number in bounds.
int edge_for(vk::Extent3D voxels) {
    constexpr std::uint64_t largest_fine = 1ULL << 24;
    return std::uint64_t{voxels.width} * voxels.height * voxels.depth <= largest_fine ? 4 : 8;
}

std::uint32_t divided(std::uint32_t length, std::uint32_t by) {
    return (length + by - 1) / by;
}

gpu::ImageShape shape_of(vk::Extent3D voxels, int voxels_along, vk::Format format) {
    const auto edge = static_cast<std::uint32_t>(voxels_along);
    return {.type = vk::ImageType::e3D,
            .format = format,
            .extent = {divided(voxels.width, edge), divided(voxels.height, edge), divided(voxels.depth, edge)},
            .usage = vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eStorage |
                     vk::ImageUsageFlagBits::eTransferDst};
}

// Whether a sampler can take the smallest and the largest of what it would filter.
bool can_reduce(const gpu::Device& device, vk::Format format) {
    const auto features = device.physical().getFormatProperties(format).optimalTilingFeatures;
    return device.reduces() && (features & vk::FormatFeatureFlagBits::eSampledImageFilterMinmax);
}

vk::raii::Sampler reducing(const gpu::Device& device, bool reduces, vk::SamplerReductionMode mode) {
    const vk::SamplerReductionModeCreateInfo reduction{.reductionMode = mode};
    const vk::Filter filter = reduces ? vk::Filter::eLinear : vk::Filter::eNearest;
    return {device.logical(), vk::SamplerCreateInfo{.pNext = reduces ? &reduction : nullptr,
                                                    .magFilter = filter,
                                                    .minFilter = filter,
                                                    .addressModeU = vk::SamplerAddressMode::eClampToEdge,
                                                    .addressModeV = vk::SamplerAddressMode::eClampToEdge,
                                                    .addressModeW = vk::SamplerAddressMode::eClampToEdge}};
}

void record_pass(const vk::raii::CommandBuffer& commands, const vk::raii::Pipeline& pipeline,
                 const gpu::Bindings& bindings, vk::Extent3D bricks, vk::Extent3D group) {
    commands.bindPipeline(vk::PipelineBindPoint::eCompute, *pipeline);
    commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, bindings.layout(), 0, bindings.set(), {});
    commands.dispatch(divided(bricks.width, group.width), divided(bricks.height, group.height),
                      divided(bricks.depth, group.depth));
}

constexpr vk::Extent3D cube{shared::brick_group, shared::brick_group, shared::brick_group};
constexpr vk::Extent3D row{shared::range_group / 8, 1, 1};

}  // namespace

Bricks::Bricks(const gpu::Device& device, vk::Extent3D voxels, int edge, bool reduces)
    : edge_(edge), reduces_(reduces), own_(device, shape_of(voxels, edge_, vk::Format::eR32G32Sfloat), "brick texture"),
      dilated_(device, shape_of(voxels, edge_, vk::Format::eR32G32Sfloat), "brick texture"),
      classes_(device, shape_of(voxels, edge_, vk::Format::eR32Uint), "brick texture"),
      min_(reducing(device, reduces_, vk::SamplerReductionMode::eMin)),
      max_(reducing(device, reduces_, vk::SamplerReductionMode::eMax)),
      from_voxels_(device, range_types, sizeof(std::int32_t)), from_neighbours_(device, dilate_types) {
    from_voxels_.set_image(shared::binding_brick_ranges, own_.view());
    from_neighbours_.set_image(shared::binding_dilate_source, own_.view());
    from_neighbours_.set_image(shared::binding_dilate_target, dilated_.view());
}

Bricks::Bricks(const gpu::Device& device, const gpu::DeviceImage& volume)
    : Bricks(device, volume.shape().extent, edge_for(volume.shape().extent),
             can_reduce(device, volume.shape().format)) {
    from_voxels_.set_image(shared::binding_brick_min, volume.view(), *min_);
    from_voxels_.set_image(shared::binding_brick_max, volume.view(), *max_);
}

void Bricks::record_first_use(const vk::raii::CommandBuffer& commands) const {
    for (const gpu::DeviceImage* image : {&own_, &dilated_, &classes_}) image->record_first_use(commands);
}

BrickBuilder::BrickBuilder(const gpu::Device& device)
    : device_(device), range_bindings_(device, range_types, sizeof(std::int32_t)),
      dilate_bindings_(device, dilate_types),
      dilate_(gpu::compute_pipeline(device, dilate_bindings_, spirv::brick_dilate, {})) {}

const vk::raii::Pipeline& BrickBuilder::range_pipeline(const Bricks& bricks, BrickEnds ends) {
    const std::array<std::int32_t, 3> constants{bricks.edge_, bricks.reduces_ ? 1 : 0, ends == BrickEnds::both ? 1 : 0};
    const auto found = range_.find(constants);
    if (found != range_.end()) return found->second;
    return range_.emplace(constants, gpu::compute_pipeline(device_, range_bindings_, spirv::brick_range, constants))
        .first->second;
}

void BrickBuilder::record(const vk::raii::CommandBuffer& commands, const Bricks& bricks, std::int64_t slices,
                          BrickEnds ends) {
    const vk::Extent3D extent = bricks.own_.shape().extent;
    commands.pushConstants<std::int32_t>(bricks.from_voxels_.layout(), vk::ShaderStageFlagBits::eCompute, 0,
                                         static_cast<std::int32_t>(slices));
    record_pass(commands, range_pipeline(bricks, ends), bricks.from_voxels_, extent, row);
    gpu::record_order(commands);
    record_pass(commands, dilate_, bricks.from_neighbours_, extent, cube);
}

void BrickBuilder::record_from(const vk::raii::CommandBuffer& commands, const Bricks& bricks, vk::Buffer ranges) const {
    const vk::Extent3D extent = bricks.own_.shape().extent;
    bricks.own_.record_box_from(commands, ranges, 0, {}, extent);
    gpu::record_order(commands);
    record_pass(commands, dilate_, bricks.from_neighbours_, extent, cube);
}

std::vector<std::uint32_t> class_limits(std::span<const float> extinctions, float thin) {
    const auto none = static_cast<std::uint32_t>(extinctions.size());
    std::vector<std::uint32_t> limits(extinctions.size());
    std::uint32_t seen = none;
    std::uint32_t dense = none;
    for (std::uint32_t i = none; i-- > 0;) {
        if (extinctions[i] > 0) seen = i;
        if (extinctions[i] > thin) dense = i;
        limits[i] = dense << shared::limit_shift | seen;
    }
    return limits;
}

BrickClassifier::BrickClassifier(const gpu::Device& device)
    : bindings_(device, class_types, 2 * sizeof(float)),
      pipeline_(gpu::compute_pipeline(device, bindings_, spirv::brick_class, {})) {}

void BrickClassifier::bind(const Bricks& bricks, vk::ImageView limits) {
    extent_ = bricks.classes().shape().extent;
    bindings_.set_image(shared::binding_class_ranges, bricks.ranges().view());
    bindings_.set_image(shared::binding_class_limits, limits);
    bindings_.set_image(shared::binding_class_target, bricks.classes().view());
}

void BrickClassifier::record(const vk::raii::CommandBuffer& commands, float scale, float offset) const {
    const std::array lookup{scale, offset};
    commands.pushConstants<float>(bindings_.layout(), vk::ShaderStageFlagBits::eCompute, 0, lookup);
    record_pass(commands, pipeline_, bindings_, extent_, cube);
}

}  // namespace echolux
