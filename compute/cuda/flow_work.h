// Arguments of all flow kernels, and their common access to lines, bins and targets.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "compute/cuda/line_method.h"
#include "compute/cuda/target.h"
#include "compute/flow/flow_tables.h"
#include "compute/plan/plan_tables.h"
#include "compute/repeat_report.h"
#include "compute/steps/angiography.h"
#include "compute/steps/depth.h"
#include "compute/steps/flow.h"

namespace echolux::cuda {

#ifdef __CUDACC__
__device__ inline Phasor phasor_of(float2 bin) {
    return {bin.x, bin.y};
}
__device__ inline Phasor phasor_of(HalfBin bin) {
    return phasor_of(__half22float2(bin.parts));
}
__device__ inline Phasor phasor_at(const float2* bin) {
    return phasor_of(__ldg(bin));
}
__device__ inline Phasor phasor_at(const HalfBin* bin) {
    return phasor_of(HalfBin{__ldg(&bin->parts)});
}
#endif

// Input, layout and target of flow kernels. Passed to kernels by value.
template <class Bin>
struct FlowWorkOn {
    const Bin* bins = nullptr;        // kept bins of the first line
    std::int64_t stride = 0;          // bins between lines
    std::int64_t position_lines = 0;  // lines per slow-axis position
    std::int64_t slow_positions = 0;
    Repeats repeats;
    const int* compared = nullptr;  // [slow], number of repeats to compare, stored first; null: all
    int depth = 0;
    int a_scans = 0;  // output lines per slow-axis position
    bool depth_flip = false;

    ScanOrder order;
    std::int64_t first_frame = 0;  // in the volume
    std::int64_t frames_of_a_position = 1;
    const LineMix* mixes = nullptr;  // [a_scans]; null: A-scans are recorded lines

    const Phasor* bulk = nullptr;  // [slow][repeats.positions][series][count - 1]; null: no removal

    DeviceTarget target;
    std::int64_t first_slice = 0;  // in the target

    std::int64_t outputs() const { return slow_positions * a_scans; }
    std::int64_t looked_at() const { return slow_positions * repeats.positions; }  // recorded A-scan positions

#ifdef __CUDACC__
    // Returns bin z of line 0 of a slow-axis position.
    __device__ const Bin* column(std::int64_t slow, int z) const {
        return bins + slow * position_lines * stride + z;
    }

    // Returns the repeats to compare.
    __device__ Repeats compared_of(std::int64_t slow) const {
        Repeats those = repeats;
        if (compared != nullptr) those.count = compared[slow];
        return those;
    }

    __device__ Phasor bulk_of(std::int64_t slow, std::int64_t position, std::int64_t series, std::int64_t pair) const {
        if (bulk == nullptr) return {1, 0};
        const std::int64_t known = min(position, repeats.positions - 1);
        return bulk[((slow * repeats.positions + known) * repeats.series + series) * (repeats.count - 1) + pair];
    }

    __device__ bool is_reversed(std::int64_t slow) const {
        return order.is_reversed(first_frame + slow * frames_of_a_position);
    }

    // Combines the recorded A-scan positions of A-scan `a`, given by at(position).
    template <class At>
    __device__ auto mixed(std::int64_t slow, std::int64_t a, const At& at) const {
        const bool reversed = is_reversed(slow);
        if (mixes == nullptr) return at(order.recorded(a, reversed));
        const LineMix mix = mixes[a];
        return blend(at(order.recorded(mix.first, reversed)), at(order.recorded(mix.first + 1, reversed)), mix.next);
    }

    __device__ TargetRow row(std::int64_t slow, std::int64_t a) const {
        return target.at(first_slice + slow, a);
    }

    // Returns the offset of bin z's voxel in its row, at two bytes per voxel.
    __device__ int offset(int z) const {
        return 2 * (depth_flip ? depth - 1 - z : z);
    }

  private:
    __device__ static PhaseStep blend(const PhaseStep& first, const PhaseStep& next, float share) {
        PhaseStep mean = first.times(1 - share);
        mean.add(next.times(share));
        return mean;
    }
    __device__ static Angiogram blend(const Angiogram& first, const Angiogram& next, float share) {
        return {first.value * (1 - share) + next.value * share, first.power * (1 - share) + next.power * share};
    }
#endif
};

// Full-precision bins.
using FlowWork = FlowWorkOn<float2>;

// Work buffers of the two Doppler kernels.
struct DopplerBuffers {
    float4* sums = nullptr;   // [slow][repeats.positions][depth]: product, power
    float* phases = nullptr;  // [slow][2][depth]
};

// Enqueues the bulk steps of all pairs, in the layout of FlowWork::bulk.
void enqueue_bulk_steps(cudaStream_t stream, const FlowWork& work, float min_power, Phasor* steps);

// Enqueues the sums over the lines of a window around each recorded A-scan position and over all pairs of repeats:
// [slow][positions][depth], product and power.
void enqueue_sums_over_lines(cudaStream_t stream, const FlowWork& work, std::int64_t window, float4* sums);

// Returns whether Doppler needs buffers. If not, a single kernel computes it.
bool doppler_needs_buffers(const FlowTables& tables, bool mixes);
void enqueue_doppler(cudaStream_t stream, const FlowWork& work, const FlowTables& tables,
                     const DopplerBuffers& buffers);
void enqueue_doppler_in_one_kernel(cudaStream_t stream, const FlowWorkOn<HalfBin>& work, const FlowTables& tables);

// Work buffers of complex decorrelation.
struct DecorrelationBuffers {
    float4* sums = nullptr;               // [slow][repeats.positions][depth]
    NoisyDecorrelation* found = nullptr;  // [slow][a_scans][depth]
    std::uint32_t* counts = nullptr;      // [slow][BulkDecorrelation::bins]
    float* bulk = nullptr;                // [slow], of whole B-scans
};

// Enqueues complex decorrelation. `reports`: [slow][repeats], receives the decorrelation of each whole B-scan, or null.
void enqueue_decorrelation(cudaStream_t stream, const FlowWork& work, const FlowTables& tables,
                           const DecorrelationBuffers& buffers, RepeatReport* reports);

// Enqueues angiography. `filters` are those of the tables, on the device.
void enqueue_angiography(cudaStream_t stream, const FlowWork& work, const FlowTables& tables, const Phasor* filters);

}  // namespace echolux::cuda
