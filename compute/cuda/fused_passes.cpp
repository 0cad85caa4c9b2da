#include "compute/cuda/fused_passes.h"

#include <algorithm>
#include <type_traits>

namespace echolux::cuda {
namespace {

// Size of bins that are written and read again. Those of three workers stay in the L2 cache of a large GPU, and a few
// thousand lines occupy all multiprocessors. Doppler with 2048 samples on an H100 and four blocks in progress reaches
// 101, 103, 104, 91, 94 M A-scans/s with 8, 12, 16, 20, 32 MiB.
constexpr std::int64_t cached_bytes = std::int64_t{16} << 20;

// Alignment processes bins in about eighty kernels, whose launch overhead exceeds the benefit of the cache. 512 x 512
// bins of four repeats on an H200, with the first of these kernels and 2, 4, 8, 16 positions at once: 437, 310, 242,
// 206 us per position.
constexpr std::int64_t aligned_bytes = std::int64_t{256} << 20;

}  // namespace

FusedPasses::FusedPasses(const ReconstructionSpec& spec, const BlockShape& shape, const FusedKernel& kernel,
                         const FlowStage* flow, cudaStream_t stream)
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
