#include "render/plane_histogram.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "render/camera.h"
#include "render/heights.h"
#include "render/print.h"
#include "render/raycast_frame.h"
#include "shaders/spirv.h"

namespace echolux {
namespace {

constexpr std::array plane_binding_types{vk::DescriptorType::eCombinedImageSampler,
                                         vk::DescriptorType::eCombinedImageSampler, vk::DescriptorType::eStorageBuffer};
constexpr std::size_t plane_bytes = std::size_t{shared::plane_bins} * shared::plane_bins * sizeof(std::uint32_t);
constexpr std::int64_t most_plane_groups = 1024;

vk::raii::Sampler plane_sampler(const gpu::Device& device) {
    return {device.logical(), vk::SamplerCreateInfo{.magFilter = vk::Filter::eLinear,
                                                    .minFilter = vk::Filter::eLinear,
                                                    .addressModeU = vk::SamplerAddressMode::eClampToEdge,
                                                    .addressModeV = vk::SamplerAddressMode::eClampToEdge,
                                                    .addressModeW = vk::SamplerAddressMode::eClampToEdge}};
}

std::vector<std::byte> print_of_count(const shared::PlanePart& part, const SceneSerials& serials,
                                      const VolumeTexture& volume) {
    Print print;
    print.add(part);
    print.add(serials);
    print.add(&volume);
    return std::move(print).bytes();
}

}  // namespace

PlaneHistogramCounter::PlaneHistogramCounter(const gpu::Device& device, gpu::Queue& queue, gpu::ReadBack& read_back)
    : device_(device), queue_(queue), read_back_(read_back),
      counts_(device, plane_bytes, vk::BufferUsageFlagBits::eStorageBuffer | vk::BufferUsageFlagBits::eTransferSrc),
      counted_(device, plane_bytes, vk::BufferUsageFlagBits::eTransferDst),
      bindings_(device, plane_binding_types, sizeof(shared::PlanePart)),
      pipeline_(gpu::compute_pipeline(device, bindings_, spirv::plane_histogram, {})), sampler_(plane_sampler(device)),
      no_heights_(device,
                  {.type = vk::ImageType::e2D,
                   .format = vk::Format::eR32G32Sfloat,
                   .extent = {1, 1, 1},
                   .usage = vk::ImageUsageFlagBits::eSampled},
                  "stand-in texture") {
    queue_.run([&](const vk::raii::CommandBuffer& commands) { no_heights_.record_first_use(commands); });
    bindings_.set_buffer(shared::binding_plane_counts, counts_.handle());
}

const std::optional<PlaneHistogram>& PlaneHistogramCounter::newest() {
    if (!under_way_ || !queue_.is_done(under_way_->value)) return newest_;
    newest_ = std::move(under_way_->histogram);
    under_way_.reset();
    const std::span<const std::byte> counted = read_back_.statistics(counted_);
    newest_->counts.resize(plane_bytes / sizeof(std::uint32_t));
    std::memcpy(newest_->counts.data(), counted.data(), plane_bytes);
    newest_->serial = ++counts_made_;
    return newest_;
}

shared::PlanePart PlaneHistogramCounter::part_of(const Shot& shot, const TransferPlane& plane) const {
    const VolumeTexture& volume = shot.scene.volume;
    const VolumeGrid& grid = volume.grid();
    const shared::RaycastFrame frame = raycast_frame(shot, transfer_function(shot.view, grid, volume.range()));
    const Histogram values = empty_histogram(volume);
    const double per_value = shared::plane_bins / (values.high - values.low);
    const SecondScale second = second_scale(plane, volume, grid, shared::plane_bins);
    const std::int64_t stride = counted_stride(grid.voxels(), grid.a_scans, device_.is_software());
    const auto counted_scans = (grid.a_scans * grid.b_scans + stride - 1) / stride;
    return {.first = {0, 0, 0, stride},
            .extent = {grid.depth, grid.a_scans, grid.b_scans, counted_scans},
            .bins = glm::vec4(glm::dvec4(volume.scale() * per_value, (volume.offset() - values.low) * per_value,
                                         second.factor, second.offset)),
            .step = frame.gradient_step,
            .per = frame.per_difference,
            .depth = glm::vec4(
                glm::dvec4(depth_in_texture(grid, 0), texture_per_um(grid), static_cast<int>(plane.second) + 1, 0))};
}

bool PlaneHistogramCounter::is_due(const Shot& shot, const TransferFunction& function,
                                   const SceneSerials& serials) const {
    return !under_way_ && print_of_count(part_of(shot, *function.plane), serials, shot.scene.volume) != made_of_;
}

void PlaneHistogramCounter::count(const Shot& shot, const TransferFunction& function, const SceneSerials& serials,
                                  const gpu::Chain& chain) {
    const TransferPlane& plane = *function.plane;
    const Histogram values = empty_histogram(shot.scene.volume);
    const shared::PlanePart part = part_of(shot, plane);
    submit(shot, part, chain);
    under_way_->histogram = {{values.low, values.high}, {plane.from, plane.to}, {}, 0};
    made_of_ = print_of_count(part, serials, shot.scene.volume);
}

void PlaneHistogramCounter::submit(const Shot& shot, const shared::PlanePart& part, const gpu::Chain& chain) {
    const gpu::DeviceImage& heights = shot.scene.heights != nullptr ? *shot.scene.heights : no_heights_;
    bindings_.set_image(shared::binding_plane_voxels, shot.scene.volume.image().view(), *sampler_);
    bindings_.set_image(shared::binding_plane_heights, heights.view(), *sampler_);
    const auto record = [&](const vk::raii::CommandBuffer& commands) {
        commands.fillBuffer(counts_.handle(), 0, plane_bytes, 0);
        gpu::record_order(commands);
        commands.bindPipeline(vk::PipelineBindPoint::eCompute, *pipeline_);
        commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, bindings_.layout(), 0, bindings_.set(), {});
        commands.pushConstants<shared::PlanePart>(bindings_.layout(), vk::ShaderStageFlagBits::eCompute, 0, part);
        commands.dispatch(static_cast<std::uint32_t>(std::min<std::int64_t>(part.extent.w, most_plane_groups)), 1, 1);
        gpu::record_order(commands);
        commands.copyBuffer(counts_.handle(), counted_.handle(), vk::BufferCopy{.size = plane_bytes});
        const vk::MemoryBarrier2 to_host{.srcStageMask = vk::PipelineStageFlagBits2::eCopy,
                                         .srcAccessMask = vk::AccessFlagBits2::eTransferWrite,
                                         .dstStageMask = vk::PipelineStageFlagBits2::eHost,
                                         .dstAccessMask = vk::AccessFlagBits2::eHostRead};
        commands.pipelineBarrier2({.memoryBarrierCount = 1, .pMemoryBarriers = &to_host});
    };
    const std::uint64_t value = queue_.submit(record, chain);
    under_way_ = {{}, value};
}

}  // namespace echolux
