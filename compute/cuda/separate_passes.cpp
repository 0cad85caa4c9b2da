#include "compute/cuda/separate_passes.h"

#include <algorithm>
#include <utility>

#include "compute/cuda/fixed_pattern.h"

namespace echolux::cuda {
namespace {

constexpr std::int64_t kept_bytes = std::int64_t{256} << 20;  // of bins and values at a time

}  // namespace

SeparatePasses::SeparatePasses(const ReconstructionPlan& plan, const BlockShape& shape, const VoxelStage& voxels,
                               std::int64_t depth, std::unique_ptr<LineMethod> method, cudaStream_t stream)
    : recipe_(plan.recipe), shape_(shape), voxels_(voxels), depth_(depth), method_(std::move(method)), stream_(stream),
      line_bytes_(line_bytes(plan.format, plan.geometry)),
      lines_of_a_position_(plan.geometry.b_repeats * shape.frame_lines), positions_at_once_(plan.block_b_scans) {
    const bool whole = needs_whole_b_scans(recipe_), ranged = needs_frame_range(recipe_);
    const std::int64_t bins = whole ? lines_of_a_position_ * depth * std::int64_t{sizeof(float2)} : 0;
    const std::int64_t values = ranged ? shape.outputs_per_b_scan * depth * std::int64_t{sizeof(float)} : 0;
    if (bins + values == 0) return;
    positions_at_once_ = std::clamp<std::int64_t>(kept_bytes / (bins + values), 1, plan.block_b_scans);
    bins_ = DeviceBuffer(positions_at_once_ * bins);
    values_ = DeviceBuffer(positions_at_once_ * values);
}

void SeparatePasses::enqueue(const std::byte* raw, std::int64_t positions, const DeviceBackground& background,
                             const DeviceTarget& target) {
    for (std::int64_t first = 0; first < positions; first += positions_at_once_) {
        const std::int64_t lines = first * lines_of_a_position_;
        some_positions(raw + lines * line_bytes_, std::min(positions_at_once_, positions - first),
                       background.from(lines), target.from(first * shape_.outputs_per_b_scan));
    }
}

void SeparatePasses::some_positions(const std::byte* raw, std::int64_t positions, const DeviceBackground& background,
                                    const DeviceTarget& target) {
    const std::int64_t lines = positions * lines_of_a_position_, outputs = positions * shape_.outputs_per_b_scan;
    const bool whole = bins_.bytes() > 0;
    for (std::int64_t first = 0; first < lines; first += method_->lines_at_once()) {
        const std::int64_t count = std::min(method_->lines_at_once(), lines - first);
        const DeviceBins bins = method_->enqueue(raw + first * line_bytes_, count, background.from(first));
        if (whole) {
            keep(bins, first, count);
        } else {
            store(bins, first, count, target);
        }
    }
    if (whole) {
        if (recipe_.fixed_pattern != FixedPattern::none) {
            remove_fixed_pattern(stream_, recipe_.fixed_pattern, recipe_.fixed_pattern_segments, bins_.as<float2>(),
                                 lines / shape_.frame_lines, shape_.frame_lines, depth_);
        }
        store({bins_.as<float2>(), depth_}, 0, outputs, target);
    }
    if (values_.bytes() > 0) {
        voxels_.store_slices(stream_, values_.as<float>(), outputs / target.a_scans, target);
    }
}

void SeparatePasses::keep(const DeviceBins& bins, std::int64_t first_line, std::int64_t lines) {
    constexpr std::size_t bin = sizeof(float2);
    const std::size_t row = static_cast<std::size_t>(depth_) * bin;
    checked(cudaMemcpy2DAsync(bins_.as<float2>() + first_line * depth_, row, bins.first,
                              static_cast<std::size_t>(bins.stride) * bin, row, static_cast<std::size_t>(lines),
                              cudaMemcpyDeviceToDevice, stream_),
            "keep depth bins");
}

void SeparatePasses::store(const DeviceBins& bins, std::int64_t first_output, std::int64_t outputs,
                           const DeviceTarget& target) {
    if (values_.bytes() > 0) {
        voxels_.values(stream_, bins, outputs, values_.as<float>() + first_output * depth_);
    } else {
        voxels_.store(stream_, bins, outputs, target.from(first_output));
    }
}

}  // namespace echolux::cuda
