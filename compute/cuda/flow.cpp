#include "compute/cuda/flow.h"

#include "compute/choose_path.h"
#include "compute/repeat_report.h"

namespace echolux::cuda {

// Eight-bit directions are a hundred times coarser than half-precision bins, so half bins suffice for them. Small
// differences of large powers, and velocities stored in half precision, use full-precision bins.
FlowKernels::FlowKernels(const ReconstructionSpec& spec, double weight_sum, DepthRange kept, double half_scale)
    : tables_(flow_tables(spec, half_scale != 0 ? weight_sum * half_scale : weight_sum, kept)),
      geometry_(spec.geometry), in_one_kernel_(has_doppler_kernel(spec)), reads_half_bins_(half_scale != 0),
      mixes_(uploaded(line_mixes(spec.geometry, spec.calibration))), filters_(uploaded(tables_.filters)) {}

FlowPass::FlowPass(const FlowKernels& stage, std::int64_t max_positions, cudaStream_t stream)
    : stage_(stage), stream_(stream) {
    const FlowTables& tables = stage.tables_;
    if (stage.reads_half_bins()) walks_.emplace();
    const std::int64_t looked_at = max_positions * tables.repeats.positions;
    if (tables.removes_bulk) {
        bulk_ = DeviceBuffer(looked_at * tables.repeats.pairs() * std::int64_t{sizeof(Phasor)});
    }
    if (tables.aligns) {
        alignment_.emplace(tables, max_positions, stage.geometry_.b_repeats * stage.geometry_.lines_per_b_scan(),
                           stream);
    }
    const bool decorrelates = tables.method == FlowMethod::complex_decorrelation;
    if (decorrelates) {
        const std::int64_t voxels = stage.geometry_.a_scans * tables.depth;
        found_ = DeviceBuffer(max_positions * voxels * std::int64_t{sizeof(NoisyDecorrelation)});
        counts_ = DeviceBuffer(max_positions * BulkDecorrelation::bins * std::int64_t{sizeof(std::uint32_t)});
        bulk_decorrelations_ = DeviceBuffer(max_positions * std::int64_t{sizeof(float)});
    }
    const bool is_doppler = tables.method == FlowMethod::doppler || tables.method == FlowMethod::power_doppler;
    if (!decorrelates && (!is_doppler || stage.in_one_kernel_)) return;
    sums_ = DeviceBuffer(looked_at * tables.depth * std::int64_t{sizeof(float4)});
    if (tables.unwraps) phases_ = DeviceBuffer(max_positions * 2 * tables.depth * std::int64_t{sizeof(float)});
}

template <class Bin>
FlowWorkOn<Bin> FlowPass::work_on(const BinsOf<Bin>& bins, std::int64_t positions, std::int64_t first_frame,
                                  const DeviceTarget& target) const {
    const FlowTables& tables = stage_.tables_;
    const ScanGeometry& geometry = stage_.geometry_;
    FlowWorkOn<Bin> work;
    work.bins = bins.first;
    work.stride = bins.stride;
    work.position_lines = geometry.b_repeats * geometry.lines_per_b_scan();
    work.slow_positions = positions;
    work.repeats = tables.repeats;
    work.depth = static_cast<int>(tables.depth);
    work.a_scans = static_cast<int>(geometry.a_scans);
    work.depth_flip = tables.depth_flip;
    work.order = {geometry.a_scans, geometry.bidirectional};
    work.first_frame = first_frame;
    work.frames_of_a_position = geometry.b_repeats;
    work.mixes = stage_.mixes_.as<LineMix>();
    work.bulk = bulk_.as<Phasor>();
    work.target = target;
    work.first_slice = target.first_slice + target.first_line / geometry.a_scans;
    return work;
}

void FlowPass::enqueue(const DeviceBins& bins, std::int64_t positions, std::int64_t first_frame,
                       const DeviceTarget& target, RepeatReport* reports) {
    const FlowTables& tables = stage_.tables_;
    AlignedBins compared{bins, nullptr};
    if (alignment_) compared = alignment_->enqueue(bins, positions, reports);
    FlowWork work = work_on(compared.bins, positions, first_frame, target);
    work.compared = compared.compared;
    if (tables.removes_bulk) enqueue_bulk_steps(stream_, work, tables.min_power, bulk_.as<Phasor>());
    if (stage_.in_one_kernel_) {
        enqueue_doppler_in_one_kernel(stream_, work, tables);
    } else if (tables.method == FlowMethod::doppler || tables.method == FlowMethod::power_doppler) {
        enqueue_doppler(stream_, work, tables, {sums_.as<float4>(), phases_.as<float>()});
    } else if (tables.method == FlowMethod::complex_decorrelation) {
        const DecorrelationBuffers buffers{sums_.as<float4>(), found_.as<NoisyDecorrelation>(),
                                           counts_.as<std::uint32_t>(), bulk_decorrelations_.as<float>()};
        enqueue_decorrelation(stream_, work, tables, buffers, reports);
    } else {
        enqueue_angiography(stream_, work, tables, stage_.filters_.as<Phasor>());
    }
}

void FlowPass::enqueue(const BinsOf<HalfBin>& bins, std::int64_t positions, std::int64_t first_frame,
                       const DeviceTarget& target) {
    checked(cudaEventRecord(walks_->bins_are_made, stream_), "order Doppler after bins");
    checked(cudaStreamWaitEvent(walks_->stream, walks_->bins_are_made), "order Doppler after bins");
    enqueue_doppler_in_one_kernel(walks_->stream, work_on(bins, positions, first_frame, target), stage_.tables_);
    checked(cudaEventRecord(walks_->done, walks_->stream), "order a block after its Doppler");
    checked(cudaStreamWaitEvent(stream_, walks_->done), "order a block after its Doppler");
}

}  // namespace echolux::cuda
