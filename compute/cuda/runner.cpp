#include "compute/cuda/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace echolux::cuda {
namespace {

constexpr int most_streams = 16;

}  // namespace

CudaRunner::Worker::Worker(CudaRunner& runner, const BackendChoice& choice)
    : input(choice.spectra, runner.bytes_of(runner.plan_.block_b_scans)),
      output(runner.grid_, runner.plan_.block_b_scans * runner.shape_.outputs_per_b_scan / runner.grid_.a_scans),
      background(runner.background_mode_, runner.format_, runner.plan_.geometry, runner.plan_.calibration,
                 runner.plan_.recipe.running_alpha, runner.shape_.frames,
                 runner.running_ ? &*runner.running_ : nullptr) {
    if (runner.fused_) return;
    passes = std::make_unique<SeparatePasses>(runner.plan_, runner.shape_, *runner.voxels_, runner.voxel_tables_.depth,
                                              runner.method(stream), stream);
}

// Nothing may be freed under the feet of a kernel.
CudaRunner::Worker::~Worker() {
    cudaStreamSynchronize(stream);
}

CudaRunner::CudaRunner(const ReconstructionPlan& plan, const BackendChoice& choice, int device, std::string gpu_name)
    : plan_(plan), device_(device), gpu_name_(std::move(gpu_name)), grid_(planned_grid(plan)),
      format_(plan.format, plan.geometry), plain_(plain_tables(plan)),
      kept_(kept_depth(plan.recipe, plain_.lengths.bins)), voxel_tables_(voxel_tables(plan, plain_.weight.sum, kept_)),
      shape_(block_shape(plan, grid_)), background_mode_(chosen_background(plan.recipe, plan.calibration)) {
    if (background_mode_ == Background::running) running_.emplace(format_.samples());
    if (uses_nudft(plan)) {
        nudft_.emplace(plan);
    } else if (choice.fused && FusedKernel::fits(plan, plain_)) {
        fused_.emplace(plan, plain_, voxel_tables_);
    } else {
        plain_on_device_.emplace(plain_);
    }
    if (!fused_) voxels_.emplace(voxel_tables_, plan, shape_);
    for (int i = 0; i < std::clamp(choice.streams, 1, most_streams); ++i) {
        workers_.push_back(std::make_unique<Worker>(*this, choice));
    }
}

// Plans are given back on the device that they were made for.
CudaRunner::~CudaRunner() {
    const CurrentDevice current(device_, std::nothrow);
    workers_.clear();
}

std::string CudaRunner::backend() const {
    const char* way = fused_ ? "fused" : nudft_ ? "matrix product" : "separate passes";
    return fmt::format("cuda ({}, {})", gpu_name_, way);
}

std::unique_ptr<LineMethod> CudaRunner::method(cudaStream_t stream) const {
    if (nudft_) return std::make_unique<NudftLines>(stream, *nudft_, format_, plain_.rolling_width);
    return std::make_unique<PlainMethod>(plain_, *plain_on_device_, format_, kept_, shape_.lines(), stream);
}

std::int64_t CudaRunner::bytes_of(std::int64_t b_scans) const {
    return b_scans * plan_.geometry.b_repeats * shape_.frame_lines * format_.line_bytes();
}

template <class Work>
Completion CudaRunner::take_turn(const Block& block, const Work& work) {
    const CurrentDevice current(device_);
    collect();
    Worker& worker = *workers_[static_cast<std::size_t>(turns_ % workers_.size())];
    finish(worker);
    worker.keeper = block.keeper;
    try {
        work(worker);
        checked(cudaEventRecord(worker.done, worker.stream), "mark the end of a block");
    } catch (...) {
        cudaStreamSynchronize(worker.stream);
        worker.keeper.reset();
        worker.output.drop();
        throw;
    }
    worker.turn = ++turns_;
    worker.busy = true;
    return {worker.turn};
}

void CudaRunner::prime(const Block& block) {
    check_block(block, plan_);
    if (background_mode_ != Background::running) return;
    take_turn(block, [&](Worker& worker) {
        find_background(worker, block, worker.input.bring(worker.stream, block, bytes_of(block.b_scans)));
    });
}

Completion CudaRunner::submit(const Block& block, const Places& places) {
    check_block(block, plan_);
    const Place& place = places.structure;
    const Completion completion = take_turn(block, [&](Worker& worker) { enqueue(worker, block, place); });
    const CurrentDevice current(device_);
    Worker& worker = *workers_[static_cast<std::size_t>((completion.value - 1) % workers_.size())];
    worker.output.hand_over(worker.done);
    return completion;
}

void CudaRunner::find_background(Worker& worker, const Block& block, const std::byte* raw) const {
    worker.background.find(worker.stream, raw, block.b_scans * plan_.geometry.b_repeats, block.first_b_scan == 0);
}

void CudaRunner::enqueue(Worker& worker, const Block& block, const Place& place) {
    const std::int64_t slices_per_b_scan = shape_.outputs_per_b_scan / grid_.a_scans;
    const std::byte* raw = worker.input.bring(worker.stream, block, bytes_of(block.b_scans));
    find_background(worker, block, raw);
    const DeviceTarget target = worker.output.begin(worker.stream, place, block.first_b_scan * slices_per_b_scan,
                                                    block.b_scans * slices_per_b_scan);
    if (fused_) {
        const std::int64_t lines = block.b_scans * plan_.geometry.b_repeats * shape_.frame_lines;
        fused_->enqueue(worker.stream, raw, lines, worker.background.rows(), target);
    } else {
        worker.passes->enqueue(raw, block.b_scans, worker.background.rows(), target);
    }
    worker.output.copy_out(worker.stream);
}

void CudaRunner::wait(Completion completion) {
    if (completion.value == 0 || completion.value > turns_) return;
    Worker& worker = *workers_[static_cast<std::size_t>((completion.value - 1) % workers_.size())];
    if (worker.turn != completion.value) return;  // done long ago
    const CurrentDevice current(device_);
    finish(worker);
}

void CudaRunner::collect() {
    const CurrentDevice current(device_);
    for (const auto& worker : workers_) {
        if (worker->busy && worker->done.reached()) finish(*worker);
    }
}

void CudaRunner::finish(Worker& worker) {
    if (!worker.busy) return;
    worker.busy = false;
    const auto keeper = std::move(worker.keeper);
    checked(cudaEventSynchronize(worker.done), "reconstruct a block");
    worker.output.finish();
}

}  // namespace echolux::cuda
