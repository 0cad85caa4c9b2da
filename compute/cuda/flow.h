// Converts the complex depth bins of whole slow-axis positions to flow voxels on the GPU (docs/algorithms.md, Flow):
// alignment of repeats if requested (repeat_alignment.h), removal of bulk motion, then Doppler (doppler.cu) or
// angiography (angiography.cu, decorrelation.cu). Tables are shared by all workers. Each worker has a FlowPass with the
// buffers between kernels.
#pragma once

#include <cstdint>
#include <optional>

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/repeat_alignment.h"
#include "compute/cuda/target.h"
#include "compute/flow/flow_tables.h"
#include "compute/plan/plan_tables.h"
#include "compute/repeat_report.h"

namespace echolux::cuda {

template <class Bin>
struct FlowWorkOn;

// Tables of flow, shared by all workers.
class FlowStage {
  public:
    // For a spec with flow. `half_scale` is the scale of available HalfBins, or 0 if bins are in full precision.
    FlowStage(const ReconstructionSpec& spec, double weight_sum, DepthRange kept, double half_scale);

    bool reads_half_bins() const { return reads_half_bins_; }
    bool aligns() const { return tables_.aligns; }

  private:
    friend class FlowPass;

    FlowTables tables_;
    ScanGeometry geometry_;
    bool reads_half_bins_ = false;
    DeviceBuffer mixes_;    // LineMix [a_scans], or empty
    DeviceBuffer filters_;  // one per sub-band
};

// Flow of one worker, on its stream.
class FlowPass {
  public:
    // The stage must outlive this object. Throws Error{out_of_memory}.
    FlowPass(const FlowStage& stage, std::int64_t max_positions, cudaStream_t stream);

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
    struct Walks {
        Stream stream{Urgency::urgent};
        Event bins_are_made, done;
    };

    const FlowStage& stage_;
    cudaStream_t stream_;
    std::optional<Walks> walks_;
    DeviceBuffer bulk_;    // Phasor per pair of lines
    DeviceBuffer sums_;    // product and power, summed over lines, per A-scan position and bin
    DeviceBuffer phases_;  // phases of the line being unwrapped and of the previous one
    std::optional<RepeatAlignment> alignment_;
    DeviceBuffer found_, counts_, bulk_decorrelations_;  // see DecorrelationBuffers
};

}  // namespace echolux::cuda
