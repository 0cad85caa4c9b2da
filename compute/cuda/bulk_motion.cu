// Phase step of whole lines (docs/algorithms.md, Flow): one thread block per pair of lines iterates over the depth,
// once to estimate and several times to trim.
#include <cub/block/block_reduce.cuh>

#include "compute/cuda/flow_work.h"
#include "compute/cuda/memory.h"

namespace echolux::cuda {
namespace {

constexpr int threads = 128;

__global__ void __launch_bounds__(threads) find_bulk_steps(FlowWork work, BulkShare share, Phasor* steps) {
    using Reduce = cub::BlockReduce<BulkSum, threads>;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ Phasor estimate;
    const std::int64_t pairs_of_a_series = work.repeats.count - 1, pairs = work.repeats.pairs();
    const std::int64_t looked_at = blockIdx.x / pairs, pair = blockIdx.x % pairs;
    const std::int64_t slow = looked_at / work.repeats.positions, position = looked_at % work.repeats.positions;
    const std::int64_t line = work.repeats.line(position, pair / pairs_of_a_series, pair % pairs_of_a_series);
    if (pair % pairs_of_a_series + 1 >= work.compared_of(slow).count) return;
    const float2* earlier = work.column(slow, 0) + line * work.stride;
    const float2* later = earlier + work.repeats.step * work.stride;
    if (threadIdx.x == 0) estimate = {};
    BulkSum total;
    for (int pass = 0; pass <= BulkShare::trimmings; ++pass) {
        __syncthreads();
        BulkSum sum;
        for (int z = static_cast<int>(threadIdx.x); z < work.depth; z += threads) {
            sum.add(share(phasor_at(earlier + z), phasor_at(later + z), estimate));
        }
        total = Reduce(storage).Reduce(sum, [](BulkSum a, const BulkSum& b) {
            a.add(b);
            return a;
        });
        __syncthreads();
        if (threadIdx.x == 0) estimate = bulk_estimate(total);
    }
    if (threadIdx.x == 0) steps[blockIdx.x] = bulk_step(total);
}

}  // namespace

void enqueue_bulk_steps(cudaStream_t stream, const FlowWork& work, float min_power, Phasor* steps) {
    const auto blocks = static_cast<unsigned>(work.looked_at() * work.repeats.pairs());
    find_bulk_steps<<<blocks, threads, 0, stream>>>(work, BulkShare{min_power}, steps);
    checked_launch("find bulk motion");
}

}  // namespace echolux::cuda
