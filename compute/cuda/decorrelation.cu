// Decorrelation of complex repeats on the GPU, minus the parts explained by noise and by motion of a whole B-scan
// (docs/angiography.md): window means, then the median of each B-scan from a histogram, then voxels.
#include "compute/cuda/flow_work.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/window_mean.cuh"
#include "compute/repeat_report.h"

namespace echolux::cuda {
namespace {

constexpr int bins = BulkDecorrelation::bins;
constexpr std::int64_t least = min_compared(FlowMethod::complex_decorrelation);

// One block per output line.
__global__ void find_decorrelations(FlowWork work, WindowMean mean, DecorrelationOf decorrelation,
                                    DecorrelationBuffers buffers) {
    __shared__ std::uint32_t counts[bins];
    const std::int64_t slow = blockIdx.x / work.a_scans, a = blockIdx.x % work.a_scans;
    if (work.compared_of(slow).count < least) return;
    for (int i = static_cast<int>(threadIdx.x); i < bins; i += static_cast<int>(blockDim.x)) counts[i] = 0;
    __syncthreads();
    NoisyDecorrelation* line = buffers.found + blockIdx.x * std::int64_t{work.depth};
    for (int z = static_cast<int>(threadIdx.x); z < work.depth; z += static_cast<int>(blockDim.x)) {
        const NoisyDecorrelation one = decorrelation(mean(work, slow, a, z));
        line[z] = one;
        const std::int32_t bin = BulkDecorrelation::bin_of(one);
        if (bin >= 0) atomicAdd(counts + bin, 1u);  // integers: the order does not matter
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < bins; i += static_cast<int>(blockDim.x)) {
        if (counts[i] > 0) atomicAdd(buffers.counts + slow * bins + i, counts[i]);
    }
}

// One block per B-scan.
__global__ void find_bulk(FlowWork work, DecorrelationBuffers buffers, RepeatReport* reports) {
    __shared__ std::uint32_t counts[bins];
    const auto slow = static_cast<std::int64_t>(blockIdx.x);
    for (int i = static_cast<int>(threadIdx.x); i < bins; i += static_cast<int>(blockDim.x))
        counts[i] = buffers.counts[slow * bins + i];
    __syncthreads();
    if (threadIdx.x != 0) return;
    const float bulk = BulkDecorrelation::median(counts);
    buffers.bulk[slow] = bulk;
    if (reports == nullptr || work.compared_of(slow).count < least) return;
    for (std::int64_t r = 0; r < work.repeats.count; ++r)
        reports[slow * work.repeats.count + r].bulk_decorrelation = bulk;
}

// One block per output line.
__global__ void store_decorrelations(FlowWork work, DecorrelationCode code, DecorrelationBuffers buffers) {
    const std::int64_t slow = blockIdx.x / work.a_scans, a = blockIdx.x % work.a_scans;
    const Repeats compared = work.compared_of(slow);
    const bool is_shown = compared.count >= least && buffers.bulk[slow] <= BulkDecorrelation::max_shown;
    const TargetRow row = work.row(slow, a);
    const NoisyDecorrelation* line = buffers.found + blockIdx.x * std::int64_t{work.depth};
    code.bulk = buffers.bulk[slow];
    code.deviations *= sqrtf(static_cast<float>(work.repeats.pairs()) / static_cast<float>(compared.pairs()));
    for (int z = static_cast<int>(threadIdx.x); z < work.depth; z += static_cast<int>(blockDim.x))
        row.store(work.offset(z), is_shown ? code(line[z]) : std::uint16_t{0});
}

}  // namespace

void enqueue_decorrelation(cudaStream_t stream, const FlowWork& work, const FlowTables& tables,
                           const DecorrelationBuffers& buffers, RepeatReport* reports) {
    const auto lines = static_cast<unsigned>(work.outputs()), slow = static_cast<unsigned>(work.slow_positions);
    const std::size_t counts = slow * bins * sizeof(std::uint32_t);
    checked(cudaMemsetAsync(buffers.counts, 0, counts, stream), "clear counts of decorrelations");
    enqueue_sums_over_lines(stream, work, tables.window_positions, buffers.sums);
    const WindowMean mean{buffers.sums, tables.window_positions, tables.window_depth};
    find_decorrelations<<<lines, threads_of_a_line, 0, stream>>>(work, mean, DecorrelationOf{tables.noise_power},
                                                                 buffers);
    find_bulk<<<slow, threads_of_a_line, 0, stream>>>(work, buffers, reports);
    const DecorrelationCode code{tables.noise_power / tables.min_power, tables.deviations, 0};
    store_decorrelations<<<lines, threads_of_a_line, 0, stream>>>(work, code, buffers);
    checked_launch("find decorrelations");
}

}  // namespace echolux::cuda
