// Executes a plan on a GPU. Several workers, each with its own stream and buffers, take turns with the blocks, so that
// one block is copied while another is processed. submit() does not wait for the GPU, unless the next worker is still
// busy. Voxels are bit-identical for any number of workers and any block size.
//
// prime(), which only updates the running background, has its own streams and buffers. It waits for copies and means of
// previously primed blocks, but not for reconstruction.
//
// If the caller orders work with its own stream or events, the GPU maintains that order. Work on device memory alone
// then needs no host action, so even a busy worker is given the next block immediately: its stream maintains the order.
//
// If a stream of the caller is being captured, the block becomes part of its graph. The graph uses the worker's memory,
// so its launches must not overlap with other blocks.
//
// Calls must come from one thread at a time.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compute/backend.h"
#include "compute/choose_path.h"
#include "compute/cuda/background.h"
#include "compute/cuda/flow.h"
#include "compute/cuda/fused.h"
#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/passes.h"
#include "compute/cuda/transfers.h"
#include "compute/cuda/voxels.h"
#include "compute/plan/tables.h"
#include "compute/reconstructor.h"
#include "compute/voxel_target.h"

namespace echolux::cuda {

// ---- Measures the processing steps of a block on a GPU's stream with events. Optional, because each mark is an
// additional call per block.

// Time marks of one worker's latest block.
class BlockTimes {
  public:
    // In stream order.
    enum class Mark { begins, has_arrived, has_background, has_place, is_made, is_copied };

    explicit BlockTimes(bool wanted) {
        if (wanted) events_.emplace();
    }

    void set(Mark mark, cudaStream_t stream) {
        if (events_) checked(cudaEventRecord((*events_)[static_cast<std::size_t>(mark)].event, stream), "mark a time");
    }

    // Adds the times to `work` after the stream's work is complete. Computing the background counts as kernel time.
    void add_to(DeviceWork& work) const {
        if (!events_) return;
        work.link_s += between(Mark::begins, Mark::has_arrived);
        work.kernels_s += between(Mark::has_arrived, Mark::has_background) + between(Mark::has_place, Mark::is_made);
        work.waiting_s += between(Mark::has_background, Mark::has_place);
        work.copy_s += between(Mark::is_made, Mark::is_copied);
    }

  private:
    struct TimedEvent {
        TimedEvent() { checked(cudaEventCreateWithFlags(&event, cudaEventDefault), "create an event"); }
        ~TimedEvent() { cudaEventDestroy(event); }
        TimedEvent(const TimedEvent&) = delete;
        TimedEvent& operator=(const TimedEvent&) = delete;
        cudaEvent_t event = nullptr;
    };

    double between(Mark from, Mark to) const {
        float ms = 0;
        const auto event = [&](Mark mark) { return (*events_)[static_cast<std::size_t>(mark)].event; };
        checked(cudaEventElapsedTime(&ms, event(from), event(to)), "read a time");
        return 1e-3 * static_cast<double>(ms);
    }

    std::optional<std::array<TimedEvent, 6>> events_;
};

// Reconstructor on one GPU.
class CudaRunner : public Reconstructor {
  public:
    // `gpu` must be current. Throws Error{bad_setting, device, out_of_memory}.
    CudaRunner(const ReconstructionSpec& plan, const BackendChoice& choice, const NumberedGpu& gpu);
    ~CudaRunner() override;

    const VolumeGrid& grid() const override { return grid_; }
    const std::optional<VolumeGrid>& flow_grid() const override { return flow_grid_; }
    Backend backend() const override { return Backend::cuda; }
    std::string backend_description() const override;
    Precision precision() const override { return path_.in_halves ? Precision::fast : Precision::exact; }
    void prime(const Block& block) override;
    Completion submit(const Block& block, const VoxelTargets& voxel_targets) override;
    void wait(Completion completion) override;
    void collect() override;
    int in_flight() const override;
    void resume_after(Reconstructor& before) override;
    DeviceId device() const override { return work_.id; }
    std::vector<DeviceWork> device_work() const override;

  private:
    // Reads blocks and computes their background.
    struct Listener {
        Listener(CudaRunner& runner, const BackendChoice& choice);
        ~Listener();

        Stream stream;
        Event ready;  // after earlier work of the caller's stream
        Event done;
        BlockInput input;
        FrameBackground background;
        bool busy = false;
        std::shared_ptr<const void> keeper;
    };

    // A listener that also reconstructs its blocks.
    struct Worker : Listener {
        Worker(CudaRunner& runner, const BackendChoice& choice);
        ~Worker();

        VoxelOutput output;
        std::optional<VoxelOutput> flow_output;
        std::map<std::int64_t, VoxelOutput> peaks_outputs;  // by voxels per peak
        RepeatOutput repeats;

        // Calls work(output) for each requested output of the places.
        template <class Work>
        void each_output(const VoxelTargets& voxel_targets, const Work& work) {
            work(output);
            if (voxel_targets.flow) work(*flow_output);
            if (voxel_targets.peaks) work(peaks_outputs.at(voxel_targets.peaks->depths));
        }
        template <class Work>
        void each_output(const Work& work) {
            work(output);
            if (flow_output) work(*flow_output);
            for (auto& [depths, peaks] : peaks_outputs) work(peaks);
        }
        std::unique_ptr<Passes> passes;
        std::uint64_t turn = 0;     // turn of its latest block
        bool for_the_host = false;  // the host has work after the block
        bool queues = false;        // work of an earlier turn may also be in progress
        BlockTimes times;
    };

    std::unique_ptr<LineMethod> method(cudaStream_t stream) const;
    std::unique_ptr<Passes> passes(cudaStream_t stream) const;
    std::int64_t slices_per_b_scan() const { return shape_.outputs_per_b_scan / grid_.a_scans; }
    std::int64_t frames_of(const Block& block) const;
    SpectraPath path_of(const Block& block) const;
    void listen(Listener& listener, const Block& block);
    // Returns whether the block is missing. If it is the first of its volume, the running background restarts later.
    bool skips(const Block& block) {
        is_background_open_ |= is_missing(block) && block.first_b_scan == 0;
        return is_missing(block);
    }
    // Returns whether the running background restarts: at the first block of a volume that is not missing.
    bool begins_background(const Block& block) {
        return std::exchange(is_background_open_, false) || block.first_b_scan == 0;
    }
    static void copy_out(Worker& worker, const VoxelTargets& voxel_targets);
    void check_places(const VoxelTargets& voxel_targets) const;
    void check_for_graph(bool for_the_host) const;
    static bool needs_the_host(const Block& block, const VoxelTargets& voxel_targets);
    static void wait_for(Listener& listener, const CallerOrder& order);
    static void follow(Listener& listener, const CallerOrder& order);
    void enqueue(Worker& worker, const Block& block, const VoxelTargets& voxel_targets);
    bool reports_repeats() const;
    BlockTargets targets(Worker& worker, const Block& block, const VoxelTargets& voxel_targets) const;
    static void finish(Listener& listener);
    void finish(Worker& worker);

    // Keeps a block while its work is enqueued, possibly after unfinished work, and until it is finished. Without
    // end(), after an error, nothing remains in progress.
    class Hold {
      public:
        Hold(Listener& listener, const Block& block) : listener_(listener) { listener.keeper = block.keeper; }
        ~Hold();
        Hold(const Hold&) = delete;
        Hold& operator=(const Hold&) = delete;

        // Marks the end of the enqueued work.
        void end();

      private:
        Listener& listener_;
        bool has_ended_ = false;
    };

    // Must be first: makes the device current while the other members are destroyed
    std::optional<CurrentDevice> at_the_end_;
    ReconstructionSpec plan_;
    SpectraPath spectra_;
    int device_;
    std::string gpu_name_;
    PeerPath peers_;
    DeviceWork work_;
    VolumeGrid grid_;
    std::optional<VolumeGrid> flow_grid_;
    LineFormat format_;
    PlainTables plain_;
    DepthRange kept_;
    VoxelTables voxel_tables_;
    BlockShape shape_;
    Background background_mode_;
    GpuPath path_;
    std::optional<FusedKernel> fused_;
    LineMethodMaker make_method_;         // without the fused kernel
    std::optional<VoxelKernels> voxels_;  // unless the fused kernel writes them
    std::optional<FlowKernels> flow_;
    std::optional<RunningState> running_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::uint64_t turns_ = 0;
    std::vector<std::unique_ptr<Listener>> listeners_;  // for primed blocks with a running background
    std::uint64_t primed_ = 0;
    bool is_background_open_ = false;  // the first blocks of the volume were missing
};

}  // namespace echolux::cuda
