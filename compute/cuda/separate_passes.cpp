#include "compute/cuda/separate_passes.h"

#include <algorithm>
#include <utility>

#include "compute/cuda/fixed_pattern.h"

namespace echolux::cuda {
namespace {

constexpr std::int64_t kept_bytes = std::int64_t{256} << 20;  // size of bins and values processed together

}  // namespace

SeparatePasses::SeparatePasses(const ReconstructionSpec& spec, const BlockShape& shape, const VoxelStage& voxels,
                               const FlowStage* flow, std::int64_t depth, std::unique_ptr<LineMethod> method,
                               cudaStream_t stream)
    : recipe_(spec.recipe), shape_(shape), voxels_(voxels), depth_(depth), method_(std::move(method)), stream_(stream),
      line_bytes_(line_bytes(spec.format, spec.geometry)), frames_of_a_position_(spec.geometry.b_repeats),
      lines_of_a_position_(spec.geometry.b_repeats * shape.frame_lines), positions_at_once_(spec.block_b_scans),
      needs_whole_(needs_whole_b_scans(spec.recipe) || !voxels.as_recorded() || flow != nullptr) {
    const std::int64_t bins = needs_whole_ ? lines_of_a_position_ * depth * std::int64_t{sizeof(float2)} : 0;
    const std::int64_t values =
        needs_frame_range(recipe_) ? shape.outputs_per_b_scan * depth * std::int64_t{sizeof(float)} : 0;
    if (bins + values > 0) {
        positions_at_once_ = std::clamp<std::int64_t>(kept_bytes / (bins + values), 1, spec.block_b_scans);
    }
    if (needs_whole_) {
        const std::int64_t at_once = method_->lines_at_once() / lines_of_a_position_;
        if (at_once > 0) {
            positions_at_once_ = std::min(positions_at_once_, at_once);
        } else {
            bins_ = DeviceBuffer(positions_at_once_ * bins);
        }
    }
    values_ = DeviceBuffer(positions_at_once_ * values);
    if (flow != nullptr) flow_.emplace(*flow, positions_at_once_, stream);
}

void SeparatePasses::enqueue(const RawPositions& positions, const BlockTargets& targets) {
    for (std::int64_t first = 0; first < positions.count; first += positions_at_once_) {
        const RawPositions some{
            positions.lines.part(first * lines_of_a_position_, positions_at_once_ * lines_of_a_position_, line_bytes_),
            std::min(positions_at_once_, positions.count - first),
            positions.first_frame + first * frames_of_a_position_};
        some_positions(
            some, targets.from(first * shape_.outputs_per_b_scan, flow_ ? first * flow_->outputs_of_a_position() : 0,
                               first * frames_of_a_position_));
    }
}

void SeparatePasses::some_positions(const RawPositions& positions, const BlockTargets& targets) {
    const std::int64_t outputs = positions.count * shape_.outputs_per_b_scan;
    if (needs_whole_) {
        const DeviceBins bins = all_bins(positions);
        store(bins, 0, outputs, positions.first_frame, targets.structure);
        if (flow_ && targets.flow)
            flow_->enqueue(bins, positions.count, positions.first_frame, *targets.flow, targets.reports);
    } else {
        line_by_line(positions, targets.structure);
    }
    if (values_.bytes() > 0) {
        voxels_.store_slices(stream_, values_.as<float>(), outputs / targets.structure.a_scans, targets.structure);
    }
}

void SeparatePasses::line_by_line(const RawPositions& positions, const DeviceTarget& target) {
    const RawLines& lines = positions.lines;
    if (voxels_.store_codes(*method_, lines, target)) return;
    for (std::int64_t first = 0; first < lines.count; first += method_->lines_at_once()) {
        const RawLines some = lines.part(first, method_->lines_at_once(), line_bytes_);
        store(method_->enqueue(some), first, some.count, positions.first_frame, target);
    }
}

// Returns the bins of all lines of the positions, with the fixed pattern removed.
DeviceBins SeparatePasses::all_bins(const RawPositions& positions) {
    const RawLines& lines = positions.lines;
    DeviceBins all{bins_.as<float2>(), depth_};
    if (bins_.bytes() == 0) all = method_->enqueue(lines);
    for (std::int64_t first = 0; bins_.bytes() > 0 && first < lines.count; first += method_->lines_at_once()) {
        const RawLines some = lines.part(first, method_->lines_at_once(), line_bytes_);
        const DeviceBins bins = method_->enqueue(some);
        constexpr std::size_t bin = sizeof(float2);
        const std::size_t row = static_cast<std::size_t>(depth_) * bin;
        checked(
            cudaMemcpy2DAsync(all.first + first * depth_, row, bins.first, static_cast<std::size_t>(bins.stride) * bin,
                              row, static_cast<std::size_t>(some.count), cudaMemcpyDeviceToDevice, stream_),
            "keep depth bins");
    }
    if (recipe_.fixed_pattern != FixedPattern::none) {
        remove_fixed_pattern(stream_, recipe_.fixed_pattern, recipe_.fixed_pattern_segments, all,
                             lines.count / shape_.frame_lines, shape_.frame_lines, depth_);
    }
    return all;
}

void SeparatePasses::store(const DeviceBins& bins, std::int64_t first_output, std::int64_t outputs,
                           std::int64_t first_frame, const DeviceTarget& target) {
    if (values_.bytes() > 0) {
        voxels_.values(stream_, bins, outputs, first_frame, values_.as<float>() + first_output * depth_);
    } else {
        voxels_.store(stream_, bins, outputs, first_frame, target.from(first_output));
    }
}

}  // namespace echolux::cuda
