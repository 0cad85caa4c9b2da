#include "render/histograms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>

#include "render/camera.h"
#include "render/light_volume.h"
#include "render/raycast_frame.h"
#include "render/scan_geometry.h"
#include "shaders/spirv.h"

namespace echolux {
namespace {

constexpr std::array binding_types{vk::DescriptorType::eSampledImage, vk::DescriptorType::eStorageBuffer};
constexpr std::int64_t max_groups = 1024;

glm::ivec3 voxels_of(const Indices& indices) {
    return {indices[0], indices[1], indices[2]};
}

shared::HistogramPart part_of(const VoxelBox& box, std::int64_t stride, const VolumeTexture& volume,
                              const Histogram& histogram) {
    const double per_value = shared::histogram_bins / (histogram.high - histogram.low);
    const std::int64_t a_scans = box.extent[1] * box.extent[2];
    return {.first = voxels_of(box.first),
            .stride = static_cast<int>(stride),
            .extent = voxels_of(box.extent),
            .a_scans = static_cast<int>((a_scans + stride - 1) / stride),
            .bin_scale = static_cast<float>(volume.scale() * per_value),
            .bin_offset = static_cast<float>((volume.offset() - histogram.low) * per_value),
            .counted = shared::histogram_values};
}

// Integer codes limit the speed. Floats may exceed the expected range.
double largest_speed(const VolumeTexture& flow) {
    constexpr double beyond = 4;  // times the end of the expected range
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

template <class Result>
DeviceCounts<Result>::DeviceCounts(const gpu::Device& device, gpu::Queue& queue, gpu::ReadBack& read_back,
                                   std::size_t bins, std::span<const vk::DescriptorType> types,
                                   std::uint32_t push_bytes, Words spirv, std::uint32_t binding)
    : device_(device), queue_(queue), read_back_(read_back),
      counts_(device, bins * sizeof(std::uint32_t),
              vk::BufferUsageFlagBits::eStorageBuffer | vk::BufferUsageFlagBits::eTransferSrc),
      counted_(device, bins * sizeof(std::uint32_t), vk::BufferUsageFlagBits::eTransferDst),
      bindings_(device, types, push_bytes), pipeline_(gpu::compute_pipeline(device, bindings_, spirv, {})) {
    bindings_.set_buffer(binding, counts_.handle());
}

template <class Result>
const std::optional<Result>& DeviceCounts<Result>::newest() {
    if (!in_flight_ || !queue_.is_done(in_flight_->value)) return newest_;
    newest_ = std::move(in_flight_->histogram);
    in_flight_.reset();
    const std::span<const std::byte> counted = read_back_.statistics(counted_);
    newest_->counts.resize(counted.size() / sizeof(std::uint32_t));
    std::memcpy(newest_->counts.data(), counted.data(), counted.size());
    newest_->serial = ++counts_made_;
    return newest_;
}

template <class Result>
template <class Part>
void DeviceCounts<Result>::submit(Result histogram, std::span<const Part> parts, const gpu::Chain& chain) {
    const vk::DeviceSize bytes = counted_.bytes().size();
    const auto record = [&](const vk::raii::CommandBuffer& commands) {
        commands.fillBuffer(counts_.handle(), 0, bytes, 0);
        gpu::record_order(commands);
        gpu::record_bind(commands, bindings_, pipeline_);
        for (const Part& part : parts) {
            gpu::record_push(commands, bindings_, part);
            commands.dispatch(static_cast<std::uint32_t>(std::min<std::int64_t>(part.a_scans, max_groups)), 1, 1);
        }
        gpu::record_order(commands);
        commands.copyBuffer(counts_.handle(), counted_.handle(), vk::BufferCopy{.size = bytes});
        gpu::record_for_host(commands);
    };
    const std::uint64_t value = queue_.submit(record, chain);
    in_flight_ = {std::move(histogram), value};
}

template class DeviceCounts<Histogram>;
template class DeviceCounts<PlaneHistogram>;

HistogramCounter::HistogramCounter(const gpu::Device& device, gpu::Queue& queue, gpu::ReadBack& read_back)
    : DeviceCounts(device, queue, read_back, shared::histogram_bins, binding_types, sizeof(shared::HistogramPart),
                   spirv::histogram, shared::binding_histogram_counts) {}

void HistogramCounter::count(const VolumeTexture& volume, std::span<const VoxelBox> boxes, const SceneSerials& serials,
                             const gpu::Chain& chain) {
    Histogram histogram = empty_histogram(volume);
    const auto parts = parts_of(boxes, volume, histogram, device_.is_software());
    bindings_.set_image(shared::binding_histogram_voxels, volume.image().view());
    submit<shared::HistogramPart>(std::move(histogram), parts, chain);
    serials_ = serials;
}

void HistogramCounter::count_speeds(const VolumeTexture& flow, std::span<const VoxelBox> boxes,
                                    const SceneSerials& serials, const gpu::Chain& chain) {
    Histogram histogram{0, largest_speed(flow), {}, 0};
    auto parts = parts_of(boxes, flow, histogram, device_.is_software());
    for (shared::HistogramPart& part : parts) {
        part.counted = is_phasor(flow.grid()) ? shared::histogram_phases : shared::histogram_speeds;
        if (!is_phasor(flow.grid())) continue;
        part.bin_scale = static_cast<float>(shared::histogram_bins / histogram.high);
        part.bin_offset = 0;
    }
    bindings_.set_image(shared::binding_histogram_voxels, flow.image().view());
    submit<shared::HistogramPart>(std::move(histogram), parts, chain);
    serials_ = serials;
}

// ---- Plane histogram

constexpr std::array plane_binding_types{vk::DescriptorType::eCombinedImageSampler,
                                         vk::DescriptorType::eCombinedImageSampler, vk::DescriptorType::eStorageBuffer};

static std::vector<std::byte> print_of_count(const shared::PlanePart& part, const SceneSerials& serials,
                                             const VolumeTexture& volume) {
    Print print;
    print.add(part);
    print.add(serials);
    print.add(&volume);
    return std::move(print).bytes();
}

PlaneHistogramCounter::PlaneHistogramCounter(const gpu::Device& device, gpu::Queue& queue, gpu::ReadBack& read_back)
    : DeviceCounts(device, queue, read_back, std::size_t{shared::plane_bins} * shared::plane_bins, plane_binding_types,
                   sizeof(shared::PlanePart), spirv::plane_histogram, shared::binding_plane_counts),
      sampler_(gpu::linear_sampler(device)), no_heights_(device,
                                                         {.type = vk::ImageType::e2D,
                                                          .format = vk::Format::eR32G32Sfloat,
                                                          .extent = {1, 1, 1},
                                                          .usage = vk::ImageUsageFlagBits::eSampled},
                                                         "placeholder texture") {
    queue_.run([&](const vk::raii::CommandBuffer& commands) { no_heights_.record_first_use(commands); });
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
    return {.first = {0, 0, 0},
            .stride = static_cast<int>(stride),
            .extent = {grid.depth, grid.a_scans, grid.b_scans},
            .a_scans = static_cast<int>(counted_scans),
            .value_scale = static_cast<float>(volume.scale() * per_value),
            .value_offset = static_cast<float>((volume.offset() - values.low) * per_value),
            .second_scale = static_cast<float>(second.factor),
            .second_offset = static_cast<float>(second.offset),
            .gradient_step = frame.gradient_step,
            .per_difference = frame.per_difference,
            .zero_depth = static_cast<float>(depth_in_texture(grid, 0)),
            .depth_per_um = static_cast<float>(texture_per_um(grid)),
            .second = static_cast<float>(static_cast<int>(plane.second) + 1),
            .padding = {}};
}

bool PlaneHistogramCounter::is_due(const Shot& shot, const TransferFunction& function,
                                   const SceneSerials& serials) const {
    return !in_flight_ && print_of_count(part_of(shot, *function.plane), serials, shot.scene.volume) != made_of_;
}

void PlaneHistogramCounter::count(const Shot& shot, const TransferFunction& function, const SceneSerials& serials,
                                  const gpu::Chain& chain) {
    const TransferPlane& plane = *function.plane;
    const Histogram values = empty_histogram(shot.scene.volume);
    const shared::PlanePart part = part_of(shot, plane);
    const gpu::DeviceImage& heights = shot.scene.heights != nullptr ? *shot.scene.heights : no_heights_;
    bindings_.set_image(shared::binding_plane_voxels, shot.scene.volume.image().view(), *sampler_);
    bindings_.set_image(shared::binding_plane_heights, heights.view(), *sampler_);
    submit<shared::PlanePart>({{values.low, values.high}, {plane.from, plane.to}, {}, 0}, std::span(&part, 1), chain);
    made_of_ = print_of_count(part, serials, shot.scene.volume);
}

}  // namespace echolux
