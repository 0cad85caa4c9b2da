#include "compute/cuda/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/cuda/passes.h"
#include "compute/error.h"
#include "compute/missing_voxels.h"
#include "compute/voxel_target.h"

namespace echolux::cuda {
namespace {

constexpr int max_streams = 16;
// One block is copied while the mean of another is computed.
constexpr int listeners = 2;
// Size of the bins that the fused kernel computes at a time for other passes.
constexpr std::int64_t bins_bytes = std::int64_t{64} << 20;

bool is_on_device(const VoxelTargets& voxel_targets) {
    const auto on_device = [](const VoxelTarget& voxel_target) {
        return voxel_target.kind == TargetKind::device_linear;
    };
    return on_device(voxel_targets.structure) && (!voxel_targets.flow || on_device(*voxel_targets.flow)) &&
           (!voxel_targets.peaks || on_device(voxel_targets.peaks->target));
}

bool is_captured(const CallerOrder& order) {
    if (order.kind != CallerOrder::Kind::stream) return false;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    checked(cudaStreamIsCapturing(static_cast<cudaStream_t>(order.handle), &status), "query the caller's stream");
    return status != cudaStreamCaptureStatusNone;
}

// Allows other CUDA calls of this thread during a call on a stream that is being captured into a graph.
class InGraph {
  public:
    InGraph(const CallerOrder& block, const CallerOrder& voxel_targets)
        : is_(is_captured(block) || is_captured(voxel_targets)) {
        if (is_) cudaThreadExchangeStreamCaptureMode(&mode_);
    }
    ~InGraph() {
        if (is_) cudaThreadExchangeStreamCaptureMode(&mode_);
    }
    InGraph(const InGraph&) = delete;
    InGraph& operator=(const InGraph&) = delete;

    explicit operator bool() const { return is_; }

  private:
    bool is_;
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

// Rejects pageable memory with an order, because the host copies it immediately.
void check_order(const Block& block) {
    if (block.order.kind == CallerOrder::Kind::none || block.memory != MemoryKind::host) return;
    throw Error(ErrorCode::bad_setting, "pageable memory cannot wait for a stream or event", "block",
                "use pinned memory");
}

}  // namespace

CudaRunner::Listener::Listener(CudaRunner& runner, const BackendChoice& choice)
    : input(choice.spectra, runner.shape_.frame_lines * runner.format_.line_bytes(), runner.shape_.frames),
      background(runner.background_mode_, runner.format_, runner.plan_.geometry, runner.plan_.calibration,
                 runner.plan_.recipe.running_alpha, runner.shape_.frames,
                 runner.running_ ? &*runner.running_ : nullptr) {}

// Kernels may still use these buffers.
CudaRunner::Listener::~Listener() {
    cudaStreamSynchronize(stream);
}

CudaRunner::Worker::Worker(CudaRunner& runner, const BackendChoice& choice)
    : Listener(runner, choice),
      output(runner.grid_, runner.plan_.block_b_scans * runner.slices_per_b_scan(), runner.peers_),
      repeats(runner.plan_.geometry.b_repeats), passes(runner.passes(stream)), times(choice.keeps_times) {
    const std::int64_t slices = runner.plan_.block_b_scans * runner.slices_per_b_scan();
    if (runner.flow_grid_) flow_output.emplace(*runner.flow_grid_, runner.plan_.block_b_scans, runner.peers_);
    for (const std::int64_t depths : {4, 8}) {
        VolumeGrid grid = runner.grid_;
        grid.depth = peaks_of(grid.depth, depths);
        peaks_outputs.try_emplace(depths, grid, slices, runner.peers_);
    }
}

CudaRunner::Worker::~Worker() {
    cudaStreamSynchronize(stream);
}

CudaRunner::CudaRunner(const ReconstructionSpec& plan, const BackendChoice& choice, const NumberedGpu& gpu)
    : plan_(plan), spectra_(choice.spectra), device_(gpu.index), gpu_name_(gpu.gpu.name),
      peers_(choice.peers), work_{.id = gpu.gpu.id, .name = gpu_name_}, grid_(planned_grid(plan)),
      flow_grid_(planned_flow_grid(plan)), format_(plan.format, plan.geometry), plain_(plain_tables(plan)),
      kept_(kept_depth(plan.recipe, plain_.lengths.bins)), voxel_tables_(voxel_tables(plan, plain_.weight.sum, kept_)),
      shape_(block_shape(plan, grid_)), background_mode_(chosen_background(plan.recipe, plan.calibration)),
      path_(choose_path(plan, max_shared_bytes(), choice.fused)) {
    if (background_mode_ == Background::running) running_.emplace(format_.samples());
    if (path_.kernels == GpuKernels::fused) {
        fused_.emplace(plan, plain_, voxel_tables_, path_);
    } else {
        make_method_ = line_methods(plan, plain_, format_, kept_, shape_.lines(), path_);
    }
    if (!path_.to_voxels) voxels_.emplace(voxel_tables_, plan, shape_);
    if (flow_grid_) flow_.emplace(plan, plain_.weight.sum, kept_, path_.half_bins ? fused_->half_bin_scale() : 0);
    for (int i = 0; i < std::clamp(choice.streams, 1, max_streams); ++i) {
        workers_.push_back(std::make_unique<Worker>(*this, choice));
    }
    for (int i = 0; running_ && i < listeners; ++i) listeners_.push_back(std::make_unique<Listener>(*this, choice));
}

CudaRunner::~CudaRunner() {
    at_the_end_.emplace(device_, std::nothrow);
}

std::string CudaRunner::backend_description() const {
    return fmt::format("cuda ({}, {})", gpu_name_, name_of(path_));
}

std::unique_ptr<LineMethod> CudaRunner::method(cudaStream_t stream) const {
    if (!fused_) return make_method_(stream);
    const std::int64_t position_lines = plan_.geometry.b_repeats * shape_.frame_lines;
    const std::int64_t line_bytes = fused_->bins_of_a_line() * std::int64_t{sizeof(float2)};
    const std::int64_t positions =
        std::clamp<std::int64_t>(bins_bytes / (position_lines * line_bytes), 1, plan_.block_b_scans);
    return std::make_unique<FusedLines>(*fused_, shape_.frame_lines, positions * position_lines, stream);
}

std::unique_ptr<Passes> CudaRunner::passes(cudaStream_t stream) const {
    const FlowKernels* flow = flow_ ? &*flow_ : nullptr;
    if (path_.to_voxels) return std::make_unique<FusedPasses>(plan_, shape_, *fused_, flow, stream);
    return std::make_unique<SeparatePasses>(plan_, shape_, *voxels_, flow, voxel_tables_.depth, method(stream), stream);
}

std::int64_t CudaRunner::frames_of(const Block& block) const {
    return block.b_scans * plan_.geometry.b_repeats;
}

void CudaRunner::Hold::end() {
    checked(cudaEventRecord(listener_.done, listener_.stream), "mark the end of a block");
    listener_.busy = true;
    has_ended_ = true;
}

CudaRunner::Hold::~Hold() {
    if (has_ended_) return;
    cudaStreamSynchronize(listener_.stream);
    cudaGetLastError();  // error state of a captured stream
    listener_.keeper.reset();
}

void CudaRunner::prime(const Block& block) {
    check_block(block, plan_);
    check_order(block);
    if (background_mode_ != Background::running) return;
    const CurrentDevice current(device_);
    if (const InGraph in_graph(block.order, {}); in_graph) check_for_graph(false);
    collect();
    if (skips(block)) return;
    Listener& listener = *listeners_[static_cast<std::size_t>(primed_ % listeners_.size())];
    finish(listener);
    Hold hold(listener, block);
    wait_for(listener, block.order);
    listen(listener, block);
    hold.end();
    if (block.order.kind == CallerOrder::Kind::stream) follow(listener, block.order);
    ++primed_;
}

Completion CudaRunner::submit(const Block& block, const VoxelTargets& voxel_targets) {
    check_block(block, plan_);
    check_order(block);
    check_places(voxel_targets);
    const CurrentDevice current(device_);
    const InGraph in_graph(block.order, voxel_targets.order);
    const bool for_the_host = needs_the_host(block, voxel_targets);
    if (in_graph) check_for_graph(for_the_host);
    collect();
    Worker& worker = *workers_[static_cast<std::size_t>(turns_ % workers_.size())];
    worker.queues = worker.busy && !worker.for_the_host && !for_the_host && !in_graph;
    if (!worker.queues) finish(worker);
    try {
        Hold hold(worker, block);
        wait_for(worker, block.order);
        if (voxel_targets.order.kind == CallerOrder::Kind::stream) wait_for(worker, voxel_targets.order);
        enqueue(worker, block, voxel_targets);
        hold.end();
    } catch (...) {
        worker.each_output([](VoxelOutput& output) { output.drop(); });
        worker.repeats.drop();
        throw;
    }
    worker.turn = ++turns_;
    worker.for_the_host = for_the_host;
    worker.each_output(voxel_targets, [&](VoxelOutput& output) { output.hand_over(worker.done); });
    if (block.order.kind == CallerOrder::Kind::stream) follow(worker, block.order);
    follow(worker, voxel_targets.order);
    if (in_graph) worker.busy = false;  // nothing runs, and a graph's event cannot be queried
    return {worker.turn};
}

// A graph replays device work only, so it cannot contain host work or a running background.
void CudaRunner::check_for_graph(bool for_the_host) const {
    if (for_the_host) {
        throw Error(ErrorCode::bad_setting, "a graph needs blocks in GPU or pinned memory, and voxels in GPU memory",
                    "block", "copy them there, or end the capture first");
    }
    if (background_mode_ == Background::running) {
        throw Error(ErrorCode::bad_setting, "a running background cannot be captured into a graph", "recipe.background",
                    "choose another background, or end the capture first");
    }
}

// Returns whether the host has work after a block: memory to release, voxels to copy, or a caller without its own
// order.
bool CudaRunner::needs_the_host(const Block& block, const VoxelTargets& voxel_targets) {
    return block.keeper || block.memory == MemoryKind::host || !is_on_device(voxel_targets) || voxel_targets.repeats ||
           voxel_targets.order.kind == CallerOrder::Kind::none;
}

// Makes the worker's stream wait for the caller's work.
void CudaRunner::wait_for(Listener& listener, const CallerOrder& order) {
    if (order.kind == CallerOrder::Kind::none) return;
    cudaEvent_t event = static_cast<cudaEvent_t>(order.handle);
    if (order.kind == CallerOrder::Kind::stream) {
        event = listener.ready;
        checked(cudaEventRecord(event, static_cast<cudaStream_t>(order.handle)), "follow the caller's stream");
    }
    checked(cudaStreamWaitEvent(listener.stream, event), "wait for the caller's work");
}

// Makes the caller's later work wait for the worker's block.
void CudaRunner::follow(Listener& listener, const CallerOrder& order) {
    if (order.kind == CallerOrder::Kind::none) return;
    const cudaError_t result = order.kind == CallerOrder::Kind::stream
                                   ? cudaStreamWaitEvent(static_cast<cudaStream_t>(order.handle), listener.done)
                                   : cudaEventRecord(static_cast<cudaEvent_t>(order.handle), listener.stream);
    checked(result, "make the caller's work wait for the voxels");
}

void CudaRunner::check_places(const VoxelTargets& voxel_targets) const {
    if (voxel_targets.flow && !flow_grid_) throw Error(ErrorCode::bad_setting, "the plan has no flow", "place");
    if (voxel_targets.peaks) check_peaks(*voxel_targets.peaks, grid_.type);
    if (voxel_targets.order.kind != CallerOrder::Kind::none && !is_on_device(voxel_targets)) {
        throw Error(ErrorCode::bad_setting, "streams and events can only order voxels in GPU memory", "place",
                    "wait for the completion instead");
    }
}

// While the GPU is idle, small blocks that are read once are faster to read over the link than to copy.
SpectraPath CudaRunner::path_of(const Block& block) const {
    constexpr std::int64_t small = std::int64_t{4} << 20;
    const bool is_read_once =
        path_.to_voxels && (background_mode_ == Background::none || background_mode_ == Background::stored);
    const bool is_alone = std::ranges::none_of(workers_, [](const auto& worker) { return worker->busy; });
    return is_read_once && is_alone && block.bytes <= small ? SpectraPath::direct : spectra_;
}

// Computes the background only.
void CudaRunner::listen(Listener& listener, const Block& block) {
    const std::byte* raw = listener.input.bring(listener.stream, block, frames_of(block), path_of(block));
    listener.background.find(listener.stream, raw, frames_of(block), begins_background(block));
}

void CudaRunner::enqueue(Worker& worker, const Block& block, const VoxelTargets& voxel_targets) {
    using Mark = BlockTimes::Mark;
    worker.times.set(Mark::begins, worker.stream);
    if (skips(block)) {
        for (const Mark mark : {Mark::has_arrived, Mark::has_background, Mark::has_place})
            worker.times.set(mark, worker.stream);
        const MissingLines lines{block.b_scans, shape_.outputs_per_b_scan,
                                 voxel_targets.structure.kind == TargetKind::device_surface};
        store_missing_lines(worker.stream, targets(worker, block, voxel_targets), plan_.recipe, grid_, flow_grid_,
                            lines);
        return copy_out(worker, voxel_targets);
    }
    const std::byte* raw = worker.input.bring(worker.stream, block, frames_of(block), path_of(block));
    worker.times.set(Mark::has_arrived, worker.stream);
    worker.background.find(worker.stream, raw, frames_of(block), begins_background(block));
    worker.times.set(Mark::has_background, worker.stream);
    const BlockTargets to = targets(worker, block, voxel_targets);
    worker.times.set(Mark::has_place, worker.stream);
    const std::int64_t first_frame = block.first_b_scan * plan_.geometry.b_repeats;
    const std::int64_t frames_before = block.volume * plan_.geometry.frames_per_volume() + first_frame;
    const RawLines lines{raw, frames_of(block) * shape_.frame_lines, frames_before * shape_.frame_lines,
                         worker.background.rows()};
    worker.passes->enqueue({lines, block.b_scans, first_frame}, to);
    copy_out(worker, voxel_targets);
    work_.bytes += block.bytes;
}

void CudaRunner::copy_out(Worker& worker, const VoxelTargets& voxel_targets) {
    using Mark = BlockTimes::Mark;
    worker.times.set(Mark::is_made, worker.stream);
    worker.each_output(voxel_targets, [&](VoxelOutput& output) { output.copy_out(worker.stream); });
    worker.repeats.copy_out(worker.stream);
    worker.times.set(Mark::is_copied, worker.stream);
}

bool CudaRunner::reports_repeats() const {
    return plan_.flow.align || plan_.flow.method == FlowMethod::complex_decorrelation;
}

BlockTargets CudaRunner::targets(Worker& worker, const Block& block, const VoxelTargets& voxel_targets) const {
    const std::int64_t slices = slices_per_b_scan();
    BlockTargets targets;
    targets.structure = worker.output.begin(worker.stream, voxel_targets.structure, block.first_b_scan * slices,
                                            block.b_scans * slices);
    if (path_.to_voxels || voxels_->as_recorded()) {
        targets.structure.recorded = RecordedLines::of(plan_.geometry, block.first_b_scan * plan_.geometry.b_repeats);
    }
    if (voxel_targets.peaks) {
        const auto& [voxel_target, depths] = *voxel_targets.peaks;
        VoxelOutput& output = worker.peaks_outputs.at(depths);
        VoxelOutput::add_peaks(
            targets.structure,
            output.begin(worker.stream, voxel_target, block.first_b_scan * slices, block.b_scans * slices), depths);
    }
    if (voxel_targets.flow) {
        targets.flow = worker.flow_output->begin(worker.stream, *voxel_targets.flow, block.first_b_scan, block.b_scans);
        targets.reports = worker.repeats.begin(worker.stream, reports_repeats() ? voxel_targets.repeats : std::nullopt,
                                               block.first_b_scan, block.b_scans);
    }
    return targets;
}

void CudaRunner::wait(Completion completion) {
    if (completion.value == 0 || completion.value > turns_) return;
    Worker& worker = *workers_[static_cast<std::size_t>((completion.value - 1) % workers_.size())];
    // Already complete.
    if (worker.turn < completion.value || (worker.turn > completion.value && !worker.queues)) return;
    const CurrentDevice current(device_);
    finish(worker);
}

// Finishes workers whose event has been reached, in any order.
void CudaRunner::collect() {
    const CurrentDevice current(device_);
    const auto finish_completed = [this](const auto& all) {
        for (const auto& one : all) {
            if (one->busy && one->done.reached()) this->finish(*one);
        }
    };
    finish_completed(workers_);
    finish_completed(listeners_);
}

void CudaRunner::finish(Listener& listener) {
    if (!listener.busy) return;
    listener.busy = false;
    const auto keeper = std::move(listener.keeper);
    listener.done.wait("follow the background");
}

void CudaRunner::finish(Worker& worker) {
    if (!worker.busy) return;
    worker.busy = false;
    const auto keeper = std::move(worker.keeper);
    worker.done.wait("reconstruct a block");
    worker.each_output([](VoxelOutput& output) { output.finish(); });
    worker.repeats.finish();
    ++work_.blocks;
    worker.times.add_to(work_);
}

int CudaRunner::in_flight() const {
    const CurrentDevice current(device_);
    return static_cast<int>(
        std::ranges::count_if(workers_, [](const auto& worker) { return worker->busy && !worker->done.reached(); }));
}

void CudaRunner::resume_after(Reconstructor& before) {
    if (!running_) return;
    const auto& other = dynamic_cast<const CudaRunner&>(before);
    const CurrentDevice current(device_);
    running_->take_over(*other.running_, other.device_, device_);
    is_background_open_ = other.is_background_open_;
}

std::vector<DeviceWork> CudaRunner::device_work() const {
    DeviceWork work = work_;
    work.transfer_path = workers_.front()->output.peer_transfer_path();
    for (const auto& worker : workers_) {
        worker->each_output([&](const VoxelOutput& output) { work.copied_bytes += output.peer_bytes(); });
    }
    return {work};
}

}  // namespace echolux::cuda
