#include "render/histogram_counter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>

#include "shaders/spirv.h"

namespace echolux {
namespace {

constexpr std::array binding_types{vk::DescriptorType::eSampledImage, vk::DescriptorType::eStorageBuffer};
constexpr std::size_t bytes = shared::histogram_bins * sizeof(std::uint32_t);
constexpr std::int64_t max_groups = 1024;

// Box corner or extent with a fourth number, see HistogramPart.
glm::ivec4 packed(const Indices& indices, std::int64_t last) {
    return {indices[0], indices[1], indices[2], last};
}

shared::HistogramPart part_of(const VoxelBox& box, std::int64_t stride, const VolumeTexture& volume,
                              const Histogram& histogram) {
    const double per_value = shared::histogram_bins / (histogram.high - histogram.low);
    const std::int64_t a_scans = box.extent[1] * box.extent[2];
    return {.first = packed(box.first, stride),
            .extent = packed(box.extent, (a_scans + stride - 1) / stride),
            .bins = {volume.scale() * per_value, (volume.offset() - histogram.low) * per_value},
            .counted = shared::histogram_values};
}

// Integer codes limit the speed. Floats may exceed the expected range.
double largest_speed(const VolumeTexture& flow) {
    constexpr double beyond = 4;
    if (is_phasor(flow.grid())) return std::numbers::pi;
    const bool is_float = flow.grid().type == VoxelType::f16 || flow.grid().type == VoxelType::f32;
    const double most =
        is_float ? beyond * flow.range(RangeSource::fixed).high : std::abs(flow.scale()) + std::abs(flow.offset());
    return most > 0 ? most : 1;
}

std::vector<shared::HistogramPart> parts_of(std::span<const VoxelBox> boxes, const VolumeTexture& volume,
                                            const Histogram& histogram, bool on_processor) {
    std::int64_t voxels = 0;
    for (const VoxelBox& box : boxes) voxels += box.voxels();
    std::vector<shared::HistogramPart> parts;
    for (const VoxelBox& box : boxes) {
        parts.push_back(part_of(box, counted_stride(voxels, box.extent[1], on_processor), volume, histogram));
    }
    return parts;
}

void record_copy(const vk::raii::CommandBuffer& commands, vk::Buffer from, vk::Buffer to) {
    commands.copyBuffer(from, to, vk::BufferCopy{.size = bytes});
    const vk::MemoryBarrier2 to_host{.srcStageMask = vk::PipelineStageFlagBits2::eCopy,
                                     .srcAccessMask = vk::AccessFlagBits2::eTransferWrite,
                                     .dstStageMask = vk::PipelineStageFlagBits2::eHost,
                                     .dstAccessMask = vk::AccessFlagBits2::eHostRead};
    commands.pipelineBarrier2({.memoryBarrierCount = 1, .pMemoryBarriers = &to_host});
}

}  // namespace

std::int64_t counted_stride(std::int64_t voxels, std::int64_t a_scans, bool on_processor) {
    const std::int64_t most = on_processor ? 1 << 18 : 1 << 22;
    std::int64_t stride = std::max<std::int64_t>(1, (voxels + most - 1) / most);
    while (std::gcd(stride, a_scans) != 1) ++stride;
    return stride;
}

Histogram empty_histogram(const VolumeTexture& volume) {
    const VolumeGrid& grid = volume.grid();
    const auto [low, high] = volume.range();
    if (grid.type == VoxelType::u8) return {grid.offset - 0.5 * grid.scale, grid.offset + 255.5 * grid.scale, {}, 0};
    return {low, high > low ? high : low + 1, {}, 0};
}

HistogramCounter::HistogramCounter(const gpu::Device& device, gpu::Queue& queue, gpu::ReadBack& read_back)
    : device_(device), queue_(queue), read_back_(read_back),
      counts_(device, bytes, vk::BufferUsageFlagBits::eStorageBuffer | vk::BufferUsageFlagBits::eTransferSrc),
      counted_(device, bytes, vk::BufferUsageFlagBits::eTransferDst),
      bindings_(device, binding_types, sizeof(shared::HistogramPart)),
      pipeline_(gpu::compute_pipeline(device, bindings_, spirv::histogram, {})) {
    bindings_.set_buffer(shared::binding_histogram_counts, counts_.handle());
}

const std::optional<Histogram>& HistogramCounter::newest() {
    if (!under_way_ || !queue_.is_done(under_way_->value)) return newest_;
    newest_ = std::move(under_way_->histogram);
    under_way_.reset();
    const std::span<const std::byte> counted = read_back_.statistics(counted_);
    newest_->counts.resize(shared::histogram_bins);
    std::memcpy(newest_->counts.data(), counted.data(), bytes);
    newest_->serial = ++counts_made_;
    return newest_;
}

void HistogramCounter::count(const VolumeTexture& volume, std::span<const VoxelBox> boxes, const SceneSerials& serials,
                             const gpu::Chain& chain) {
    Histogram histogram = empty_histogram(volume);
    const auto parts = parts_of(boxes, volume, histogram, device_.is_software());
    submit(std::move(histogram), volume, parts, serials, chain);
}

void HistogramCounter::count_speeds(const VolumeTexture& flow, std::span<const VoxelBox> boxes,
                                    const SceneSerials& serials, const gpu::Chain& chain) {
    Histogram histogram{0, largest_speed(flow), {}, 0};
    auto parts = parts_of(boxes, flow, histogram, device_.is_software());
    for (shared::HistogramPart& part : parts) {
        part.counted = is_phasor(flow.grid()) ? shared::histogram_phases : shared::histogram_speeds;
        if (is_phasor(flow.grid())) part.bins = {shared::histogram_bins / histogram.high, 0};
    }
    submit(std::move(histogram), flow, parts, serials, chain);
}

void HistogramCounter::submit(Histogram histogram, const VolumeTexture& volume,
                              const std::vector<shared::HistogramPart>& parts, const SceneSerials& serials,
                              const gpu::Chain& chain) {
    bindings_.set_image(shared::binding_histogram_voxels, volume.image().view());
    const auto record = [&](const vk::raii::CommandBuffer& commands) {
        commands.fillBuffer(counts_.handle(), 0, bytes, 0);
        gpu::record_order(commands);
        commands.bindPipeline(vk::PipelineBindPoint::eCompute, *pipeline_);
        commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, bindings_.layout(), 0, bindings_.set(), {});
        for (const shared::HistogramPart& part : parts) {
            commands.pushConstants<shared::HistogramPart>(bindings_.layout(), vk::ShaderStageFlagBits::eCompute, 0,
                                                          part);
            commands.dispatch(static_cast<std::uint32_t>(std::min<std::int64_t>(part.extent.w, max_groups)), 1, 1);
        }
        gpu::record_order(commands);
        record_copy(commands, counts_.handle(), counted_.handle());
    };
    const std::uint64_t value = queue_.submit(record, chain);
    under_way_ = {std::move(histogram), value};
    serials_ = serials;
}

}  // namespace echolux
