#include "render/bricks.h"

#include <algorithm>
#include <array>

#include "compute/indexing.h"
#include "compute/voxel_target.h"
#include "render/vk/queue.h"
#include "shaders/shared/raycast.h"
#include "shaders/spirv.h"

namespace echolux {
namespace {

constexpr std::array range_types{vk::DescriptorType::eCombinedImageSampler, vk::DescriptorType::eCombinedImageSampler,
                                 vk::DescriptorType::eStorageImage};
constexpr std::array peaks_types{vk::DescriptorType::eStorageBuffer, vk::DescriptorType::eStorageImage};
constexpr std::array dilate_types{vk::DescriptorType::eSampledImage, vk::DescriptorType::eStorageImage};
// Sizes of the push constants in bytes.
constexpr std::uint32_t range_push = 2 * sizeof(std::int32_t), peaks_push = 4 * sizeof(std::int32_t),
                        dilate_push = 2 * sizeof(std::int32_t);
constexpr std::array class_types{vk::DescriptorType::eSampledImage, vk::DescriptorType::eSampledImage,
                                 vk::DescriptorType::eStorageImage};

// Small bricks follow the volume more closely. Large volumes use larger bricks to limit their number.
int edge_for(vk::Extent3D voxels) {
    constexpr std::uint64_t largest_fine = 1ULL << 24;
    return std::uint64_t{voxels.width} * voxels.height * voxels.depth <= largest_fine ? 4 : 8;
}

gpu::ImageShape shape_of(vk::Extent3D voxels, int voxels_along, vk::Format format) {
    const auto edge = static_cast<std::uint32_t>(voxels_along);
    return {.type = vk::ImageType::e3D,
            .format = format,
            .extent = gpu::groups_of(voxels, {edge, edge, edge}),
            .usage = vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eStorage |
                     vk::ImageUsageFlagBits::eTransferDst};
}

// Returns true if samplers support min and max reduction for the format.
bool can_reduce(const gpu::Device& device, vk::Format format) {
    const auto features = device.physical().getFormatProperties(format).optimalTilingFeatures;
    return device.reduces() && (features & vk::FormatFeatureFlagBits::eSampledImageFilterMinmax);
}

// Nearest filtering without reduction support: the shader then reads voxel by voxel.
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

bool is_stored_and_sampled(const gpu::Device& device, vk::Format format) {
    constexpr auto needed = vk::FormatFeatureFlagBits::eStorageImage | vk::FormatFeatureFlagBits::eSampledImage;
    return (device.physical().getFormatProperties(format).optimalTilingFeatures & needed) == needed;
}

// Returns a format with the precision of the volume's own, so that ranges are exact values of voxels at minimal memory.
vk::Format range_format(const gpu::Device& device, vk::Format voxels) {
    const auto wanted = [&] {
        switch (voxels) {
            case vk::Format::eR8Unorm: return vk::Format::eR8G8Unorm;
            case vk::Format::eR16Unorm: return vk::Format::eR16G16Unorm;
            case vk::Format::eR16Snorm: return vk::Format::eR16G16Snorm;
            case vk::Format::eR16Sfloat: return vk::Format::eR16G16Sfloat;
            default: return vk::Format::eR32G32Sfloat;
        }
    }();
    return is_stored_and_sampled(device, wanted) ? wanted : vk::Format::eR32G32Sfloat;
}

// One byte per brick if possible, because rays read them constantly.
vk::Format class_format(const gpu::Device& device) {
    return is_stored_and_sampled(device, vk::Format::eR8Uint) ? vk::Format::eR8Uint : vk::Format::eR32Uint;
}

std::int32_t kind_of(VoxelType type) {
    switch (type) {
        case VoxelType::u8: return shared::peaks_u8;
        case VoxelType::u16: return shared::peaks_u16;
        case VoxelType::f16: return shared::peaks_f16;
        default: return shared::peaks_f32;
    }
}

constexpr vk::Extent3D cube{shared::brick_group, shared::brick_group, shared::brick_group};
constexpr vk::Extent3D row{shared::range_group / 8, 1, 1};
constexpr vk::Extent3D lines{shared::peaks_group, shared::peaks_group_a, 1};
constexpr vk::Extent3D lines_of_words{4 * shared::peaks_group, shared::peaks_group_a, 1};
constexpr vk::Extent3D columns{shared::dilate_group, shared::dilate_group, shared::dilate_run};

// Limits `whole` to a number of slabs.
vk::Extent3D some_slabs(vk::Extent3D whole, std::int32_t slabs) {
    return {whole.width, whole.height, static_cast<std::uint32_t>(slabs)};
}

}  // namespace

Bricks::Bricks(const gpu::Device& device, vk::Extent3D voxels, int edge, bool reduces, vk::Format ranges)
    : edge_(edge), reduces_(reduces), own_(device, shape_of(voxels, edge_, ranges), "brick texture"),
      dilated_(device, shape_of(voxels, edge_, ranges), "brick texture"),
      classes_(device, shape_of(voxels, edge_, class_format(device)), "brick texture"),
      min_(reducing(device, reduces_, vk::SamplerReductionMode::eMin)),
      max_(reducing(device, reduces_, vk::SamplerReductionMode::eMax)), from_voxels_(device, range_types, range_push),
      from_neighbours_(device, dilate_types, dilate_push) {
    from_voxels_.set_image(shared::binding_brick_ranges, own_.view());
    from_neighbours_.set_image(shared::binding_dilate_source, own_.view());
    from_neighbours_.set_image(shared::binding_dilate_target, dilated_.view());
}

Bricks::Bricks(const gpu::Device& device, vk::Extent3D voxels, int edge)
    : Bricks(device, voxels, edge, false, vk::Format::eR32G32Sfloat) {}

Bricks::Bricks(const gpu::Device& device, const gpu::DeviceImage& volume)
    : Bricks(device, volume.shape().extent, edge_for(volume.shape().extent), can_reduce(device, volume.shape().format),
             range_format(device, volume.shape().format)) {
    from_voxels_.set_image(shared::binding_brick_min, volume.view(), *min_);
    from_voxels_.set_image(shared::binding_brick_max, volume.view(), *max_);
    const vk::Format format = volume.shape().format;
    reduces_codes_ = reduces_ && (format == vk::Format::eR8Unorm || format == vk::Format::eR16Unorm ||
                                  format == vk::Format::eR16Snorm);
}

void Bricks::bind_extremes(gpu::Bindings& raycast, vk::ImageView volume) const {
    raycast.set_image(shared::binding_volume_min, volume, *min_);
    raycast.set_image(shared::binding_volume_max, volume, *max_);
}

void Bricks::record_first_use(const vk::raii::CommandBuffer& commands) const {
    for (const gpu::DeviceImage* image : {&own_, &dilated_, &classes_}) image->record_first_use(commands);
}

BrickPeaks::BrickPeaks(const gpu::Device& device, const Bricks& bricks, const VolumeGrid& grid, vk::Buffer peaks)
    : bindings_(device, peaks_types, peaks_push), kind_(kind_of(grid.type)),
      peaks_(static_cast<std::int32_t>(peaks_of(grid.depth, bricks.edge()))),
      a_scans_(static_cast<std::int32_t>(grid.a_scans)),
      by_words_(grid.type == VoxelType::u8 && peaks_ % 4 == 0 ? 1 : 0) {
    bindings_.set_buffer(shared::binding_peaks_source, peaks, 0, bytes(grid, bricks.edge()));
    bindings_.set_image(shared::binding_peaks_ranges, bricks.own_.view());
}

std::size_t BrickPeaks::bytes(const VolumeGrid& grid, int edge) {
    constexpr std::int64_t word = 4;
    const std::int64_t bytes = peaks_of(grid.depth, edge) * grid.a_scans * grid.b_scans * bytes_of(grid.type);
    return index((bytes + word - 1) / word * word);
}

bool BrickPeaks::fit(const gpu::Device& device, const VolumeGrid& grid, int edge) {
    const bool has_peaks = grid.type == VoxelType::u8 || grid.type == VoxelType::u16 || grid.type == VoxelType::f16 ||
                           grid.type == VoxelType::f32;
    return has_peaks && bytes(grid, edge) <= device.physical().getProperties().limits.maxStorageBufferRange;
}

BrickBuilder::BrickBuilder(const gpu::Device& device)
    : device_(device), range_bindings_(device, range_types, range_push),
      peaks_bindings_(device, peaks_types, peaks_push), dilate_bindings_(device, dilate_types, dilate_push),
      dilate_(gpu::compute_pipeline(device, dilate_bindings_, spirv::brick_dilate, {})) {}

const vk::raii::Pipeline& BrickBuilder::range_pipeline(const Bricks& bricks, BrickEnds ends) {
    const std::array<std::int32_t, 3> constants{bricks.edge_, bricks.reduces_ ? 1 : 0, ends == BrickEnds::both ? 1 : 0};
    const auto found = range_.find(constants);
    if (found != range_.end()) return found->second;
    return range_.emplace(constants, gpu::compute_pipeline(device_, range_bindings_, spirv::brick_range, constants))
        .first->second;
}

const vk::raii::Pipeline& BrickBuilder::peaks_pipeline(const Bricks& bricks, const BrickPeaks& peaks) {
    const std::array<std::int32_t, 3> constants{bricks.edge_, peaks.kind_, peaks.by_words_};
    const auto found = of_peaks_.find(constants);
    if (found != of_peaks_.end()) return found->second;
    return of_peaks_.emplace(constants, gpu::compute_pipeline(device_, peaks_bindings_, spirv::brick_peaks, constants))
        .first->second;
}

BrickBuilder::Slabs BrickBuilder::slabs_of(const Bricks& bricks, const NewSlices& slices) {
    const auto all = static_cast<std::int32_t>(bricks.own_.shape().extent.depth);
    if (slices.first == 0) return {0, all};
    const std::int64_t end = (slices.end + bricks.edge_ - 1) / bricks.edge_;
    return {static_cast<std::int32_t>(slices.first / bricks.edge_), std::min(static_cast<std::int32_t>(end), all)};
}

// Includes the slabs next to the changed ones.
void BrickBuilder::record_dilation(const vk::raii::CommandBuffer& commands, const Bricks& bricks,
                                   const Slabs& changed) const {
    const vk::Extent3D extent = bricks.own_.shape().extent;
    const Slabs slabs{std::max(changed.first - 1, 0),
                      std::min(changed.end + 1, static_cast<std::int32_t>(extent.depth))};
    gpu::record_order(commands);
    gpu::record_push(commands, bricks.from_neighbours_, slabs);
    gpu::record_dispatch(commands, bricks.from_neighbours_, dilate_,
                         gpu::groups_of(some_slabs(extent, slabs.end - slabs.first), columns));
}

void BrickBuilder::record(const vk::raii::CommandBuffer& commands, const Bricks& bricks, const NewSlices& slices,
                          BrickEnds ends) {
    const Slabs slabs = slabs_of(bricks, ends == BrickEnds::both ? NewSlices{0, slices.end} : slices);
    const std::array part{static_cast<std::int32_t>(slices.end), slabs.first};
    gpu::record_push(commands, bricks.from_voxels_, part);
    gpu::record_dispatch(commands, bricks.from_voxels_, range_pipeline(bricks, ends),
                         gpu::groups_of(some_slabs(bricks.own_.shape().extent, slabs.end - slabs.first), row));
    record_dilation(commands, bricks, slabs);
}

void BrickBuilder::record_peaks(const vk::raii::CommandBuffer& commands, const Bricks& bricks, const BrickPeaks& peaks,
                                const NewSlices& slices) {
    const Slabs slabs = slabs_of(bricks, slices);
    const std::array part{peaks.peaks_, peaks.a_scans_, static_cast<std::int32_t>(slices.end), slabs.first};
    gpu::record_push(commands, peaks.bindings_, part);
    gpu::record_dispatch(commands, peaks.bindings_, peaks_pipeline(bricks, peaks),
                         gpu::groups_of(some_slabs(bricks.own_.shape().extent, slabs.end - slabs.first),
                                        peaks.by_words_ != 0 ? lines_of_words : lines));
    record_dilation(commands, bricks, slabs);
}

void BrickBuilder::record_from(const vk::raii::CommandBuffer& commands, const Bricks& bricks, vk::Buffer ranges) const {
    const vk::Extent3D extent = bricks.own_.shape().extent;
    bricks.own_.record_box_from(commands, ranges, 0, {}, extent);
    record_dilation(commands, bricks, {0, static_cast<std::int32_t>(extent.depth)});
}

// Scans from the end, so that the next visible and the next dense entry of each one are known.
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

BrickClassifier::Work::Work(const gpu::Device& device) : bindings_(device, class_types, 2 * sizeof(float)) {}

void BrickClassifier::Work::bind(const Bricks& bricks, vk::ImageView limits) {
    extent_ = bricks.classes().shape().extent;
    bindings_.set_image(shared::binding_class_ranges, bricks.ranges().view());
    bindings_.set_image(shared::binding_class_limits, limits);
    bindings_.set_image(shared::binding_class_target, bricks.classes().view());
}

BrickClassifier::BrickClassifier(const gpu::Device& device)
    : like_all_(device), pipeline_(gpu::compute_pipeline(device, like_all_.bindings_, spirv::brick_class, {})) {}

void BrickClassifier::record(const vk::raii::CommandBuffer& commands, const Work& work, float scale,
                             float offset) const {
    const std::array lookup{scale, offset};
    gpu::record_push(commands, work.bindings_, lookup);
    gpu::record_dispatch(commands, work.bindings_, pipeline_, gpu::groups_of(work.extent_, cube));
}

}  // namespace echolux
