#include "compute/cuda/passes.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "compute/cuda/background.h"
#include "compute/indexing.h"

namespace echolux::cuda {

namespace {

constexpr std::int64_t kept_bytes = std::int64_t{256} << 20;  // size of bins and values processed together

}  // namespace

SeparatePasses::SeparatePasses(const ReconstructionSpec& spec, const BlockShape& shape, const VoxelKernels& voxels,
                               const FlowKernels* flow, std::int64_t depth, std::unique_ptr<LineMethod> method,
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
        const std::size_t row = index(depth_) * bin;
        checked(cudaMemcpy2DAsync(all.first + first * depth_, row, bins.first, index(bins.stride) * bin, row,
                                  index(some.count), cudaMemcpyDeviceToDevice, stream_),
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

// Size of bins that are written and read again. Those of three workers stay in the L2 cache of a large GPU, and a few
// thousand lines occupy all multiprocessors. Doppler with 2048 samples on an H100 and four blocks in progress reaches
// 101, 103, 104, 91, 94 M A-scans/s with 8, 12, 16, 20, 32 MiB.
constexpr std::int64_t cached_bytes = std::int64_t{16} << 20;

// Alignment processes bins in about eighty kernels, whose launch overhead exceeds the benefit of the cache. 512 x 512
// bins of four repeats on an H200, with the first of these kernels and 2, 4, 8, 16 positions at once: 437, 310, 242,
// 206 us per position.
constexpr std::int64_t aligned_bytes = std::int64_t{256} << 20;

FusedPasses::FusedPasses(const ReconstructionSpec& spec, const BlockShape& shape, const FusedKernel& kernel,
                         const FlowKernels* flow, cudaStream_t stream)
    : lines_of_a_position_(spec.geometry.b_repeats * shape.frame_lines),
      line_bytes_(line_bytes(spec.format, spec.geometry)), frames_of_a_position_(spec.geometry.b_repeats),
      outputs_of_a_position_(shape.outputs_per_b_scan), positions_at_once_(spec.block_b_scans), kernel_(kernel),
      points_(kernel.points(), shape.frames), stream_(stream) {
    if (flow == nullptr) return;
    keeps_half_bins_ = flow->reads_half_bins();
    const std::size_t bin = keeps_half_bins_ ? sizeof(HalfBin) : sizeof(float2);
    const std::int64_t bytes = lines_of_a_position_ * kernel.bins_of_a_line() * static_cast<std::int64_t>(bin);
    const std::int64_t at_once = flow->aligns() ? aligned_bytes : cached_bytes;
    positions_at_once_ = std::clamp<std::int64_t>(at_once / bytes, 1, spec.block_b_scans);
    bins_ = DeviceBuffer(positions_at_once_ * bytes);
    flow_.emplace(*flow, positions_at_once_, stream);
}

// Without flow, a single launch covers the whole block.
void FusedPasses::enqueue(const RawPositions& positions, const BlockTargets& targets) {
    const RawLines& lines = positions.lines;
    const LineForm form = targets.flow ? kernel_.form_for_bins(lines.raw) : kernel_.form_for_voxels(lines.raw);
    const KPoints points = points_.enqueue(stream_, form, lines.background, positions.count * frames_of_a_position_);
    if (!targets.flow) {
        return kernel_.voxels(stream_, {lines, points}, targets.structure);
    }
    keeps_half_bins_ ? with_flow<HalfBin>(positions, points, targets) : with_flow<float2>(positions, points, targets);
}

template <class Bin>
void FusedPasses::with_flow(const RawPositions& positions, const KPoints& points, const BlockTargets& targets) {
    Bin* bins = bins_.as<Bin>();
    for (std::int64_t first = 0; first < positions.count; first += positions_at_once_) {
        const std::int64_t count = std::min(positions_at_once_, positions.count - first);
        const std::int64_t frames = first * frames_of_a_position_;
        const BlockTargets later =
            targets.from(first * outputs_of_a_position_, first * flow_->outputs_of_a_position(), frames);
        const RawLines lines =
            positions.lines.part(first * lines_of_a_position_, count * lines_of_a_position_, line_bytes_);
        kernel_.both(stream_, {lines, points.from(frames)}, later.structure, bins);
        if constexpr (std::is_same_v<Bin, HalfBin>) {
            flow_->enqueue(kernel_.kept(bins), count, positions.first_frame + frames, *later.flow);
        } else {
            flow_->enqueue(kernel_.kept(bins), count, positions.first_frame + frames, *later.flow, later.reports);
        }
    }
}

FusedLines::FusedLines(const FusedKernel& kernel, std::int64_t frame_lines, std::int64_t max_lines, cudaStream_t stream)
    : kernel_(kernel), points_(kernel.points(), max_lines / frame_lines), frame_lines_(frame_lines),
      lines_at_once_(max_lines), stream_(stream),
      bins_(max_lines * kernel.bins_of_a_line() * std::int64_t{sizeof(float2)}) {}

DeviceBins FusedLines::enqueue(const RawLines& lines) {
    const KPoints points =
        points_.enqueue(stream_, kernel_.form_for_bins(lines.raw), lines.background, lines.count / frame_lines_);
    kernel_.bins(stream_, {lines, points}, bins_.as<float2>());
    return kernel_.kept(bins_.as<float2>());
}

}  // namespace echolux::cuda
