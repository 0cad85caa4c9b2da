// From the complex depth bins of whole slow positions to voxels of flow on the GPU (docs/algorithms.md, Flow): bulk
// motion where it is removed, then Doppler (doppler.cu) or angiography (angiography.cu, decorrelation.cu), of repeats
// that are laid over one another first where that is asked for (repeat_alignment.h). Tables are shared by all workers;
// each has a FlowPass with the buffers for what lies between kernels.
#pragma once

#include <cstdint>
#include <optional>

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/repeat_alignment.h"
#include "compute/cuda/target.h"
#include "compute/flow/flow_tables.h"
#include "compute/plan/plan_tables.h"

namespace echolux::cuda {

template <class Bin>
struct FlowWorkOn;

class FlowStage {
  public:
    // Of a spec that has flow. `half_scale`: what HalfBins can be multiplied by, 0 where bins come as they are.
    FlowStage(const ReconstructionSpec& spec, double weight_sum, DepthRange kept, double half_scale);

    bool reads_half_bins() const { return reads_half_bins_; }
    bool aligns() const { return tables_.aligns; }

  private:
    friend class FlowPass;

    FlowTables tables_;
    ScanGeometry geometry_;
    bool reads_half_bins_ = false;
    DeviceBuffer mixes_;    // LineMix [a_scans], or nothing
    DeviceBuffer filters_;  // of the sub-bands
};

class FlowPass {
  public:
    // The stage lives longer. Throws Error{out_of_memory}.
    FlowPass(const FlowStage& stage, std::int64_t max_positions, cudaStream_t stream);

    // `positions` slow positions, of which line 0 belongs to frame number `first_frame` of the volume. `target` has
    // places for a_scans output lines of each. `reports`: [positions][b_repeats] in the GPU's memory, or null.
    void enqueue(const DeviceBins& bins, std::int64_t positions, std::int64_t first_frame, const DeviceTarget& target,
                 RepeatReport* reports);

    // Of a stage that reads them.
    void enqueue(const BinsOf<HalfBin>& bins, std::int64_t positions, std::int64_t first_frame,
                 const DeviceTarget& target);

    std::int64_t outputs_of_a_position() const { return stage_.geometry_.a_scans; }

  private:
    template <class Bin>
    FlowWorkOn<Bin> work_on(const BinsOf<Bin>& bins, std::int64_t positions, std::int64_t first_frame,
                            const DeviceTarget& target) const;

    // A walk through half bins goes ahead of spectra that other workers transform meanwhile: it waits for memory where
    // they wait for arithmetic, so that both are done sooner.
    struct Walks {
        Stream stream{Urgency::urgent};
        Event bins_are_made, done;
    };

    const FlowStage& stage_;
    cudaStream_t stream_;
    std::optional<Walks> walks_;
    DeviceBuffer bulk_;    // Phasor, of every pair of lines
    DeviceBuffer sums_;    // PhaseSum, over lines, of every A-scan position and bin
    DeviceBuffer phases_;  // of the line that is being unwrapped, and of the one before
    std::optional<RepeatAlignment> alignment_;
    DeviceBuffer found_, counts_, bulk_decorrelations_;  // as DecorrelationBuffers has them
};

}  // namespace echolux::cuda
