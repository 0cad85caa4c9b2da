// Converts the complex depth bins of whole slow-axis positions to flow voxels on the GPU (docs/algorithms.md, Flow):
// alignment of repeats if requested (repeat_alignment.h), removal of bulk motion, then Doppler (doppler.cu) or
// angiography (angiography.cu; decorrelation in doppler.cu). Tables are shared by all workers. Each worker has a
// FlowPass with the buffers between kernels.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <optional>

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/repeat_alignment.h"
#include "compute/cuda/target.h"
#include "compute/flow/flow_tables.h"
#include "compute/plan/tables.h"
#include "compute/repeat_report.h"
#include "compute/steps/angiography.h"
#include "compute/steps/depth.h"
#include "compute/steps/flow.h"

namespace echolux::cuda {

template <class Bin>
struct FlowWorkOn;

// Tables of flow, shared by all workers.
class FlowKernels {
  public:
    // For a spec with flow. `half_scale` is the scale of available HalfBins, or 0 if bins are in full precision.
    FlowKernels(const ReconstructionSpec& spec, double weight_sum, DepthRange kept, double half_scale);

    bool reads_half_bins() const { return reads_half_bins_; }
    bool aligns() const { return tables_.aligns; }

  private:
    friend class FlowPass;

    FlowTables tables_;
    ScanGeometry geometry_;
    bool in_one_kernel_;  // Doppler
    bool reads_half_bins_;
    DeviceBuffer mixes_;    // LineMix [a_scans], or empty
    DeviceBuffer filters_;  // one per sub-band
};

// Flow of one worker, on its stream.
class FlowPass {
  public:
    // The stage must outlive this object. Throws Error{out_of_memory}.
    FlowPass(const FlowKernels& stage, std::int64_t max_positions, cudaStream_t stream);

    // Enqueues `positions` slow-axis positions. Line 0 belongs to frame `first_frame` of the volume. `target` has room
    // for a_scans output lines per position. `reports`: [positions][b_repeats] in GPU memory, or null.
    void enqueue(const DeviceBins& bins, std::int64_t positions, std::int64_t first_frame, const DeviceTarget& target,
                 RepeatReport* reports);

    // Does the same for a stage that reads half bins.
    void enqueue(const BinsOf<HalfBin>& bins, std::int64_t positions, std::int64_t first_frame,
                 const DeviceTarget& target);

    std::int64_t outputs_of_a_position() const { return stage_.geometry_.a_scans; }

  private:
    template <class Bin>
    FlowWorkOn<Bin> work_on(const BinsOf<Bin>& bins, std::int64_t positions, std::int64_t first_frame,
                            const DeviceTarget& target) const;

    // Doppler kernels on half bins run on an urgent stream, ahead of transforms of other workers. They are bound by
    // memory and the transforms by arithmetic, so running them concurrently shortens both.
    struct DopplerStream {
        Stream stream{Urgency::urgent};
        Event bins_are_made, done;
    };

    const FlowKernels& stage_;
    cudaStream_t stream_;
    std::optional<DopplerStream> walks_;
    DeviceBuffer bulk_;    // Phasor per pair of lines
    DeviceBuffer sums_;    // product and power, summed over lines, per A-scan position and bin
    DeviceBuffer phases_;  // phases of the line being unwrapped and of the previous one
    std::optional<RepeatAlignment> alignment_;
    DeviceBuffer found_, counts_, bulk_decorrelations_;  // see DecorrelationBuffers
};

// ---- Arguments of all flow kernels, and their common access to lines, bins and targets.

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

// Enqueues Doppler in two kernels, or in one (has_doppler_kernel()).
void enqueue_doppler(cudaStream_t stream, const FlowWork& work, const FlowTables& tables,
                     const DopplerBuffers& buffers);
void enqueue_doppler_in_one_kernel(cudaStream_t stream, const FlowWork& work, const FlowTables& tables);
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
