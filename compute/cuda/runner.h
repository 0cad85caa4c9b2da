// Runs a plan on a GPU. A few workers, each with its own stream and buffers, take the blocks in turn: one is copied
// while another is worked on. `submit` returns without waiting for the GPU, unless the worker whose turn it is still
// has a block under way. Voxels are the same bits for any number of workers and any block size.
//
// Priming, which only follows the running background, has streams and buffers of its own: it waits for copies and means
// of blocks primed before, not for reconstruction.
//
// Where the caller says in which order his own stream or events come, that order is kept by the GPU. Work on device
// memory alone leaves the host nothing to do: then even a worker that is still busy is given the next block at once, as
// its stream keeps the order.
//
// A stream of the caller's that is being captured takes the block into its graph. The graph works in the worker's
// memory: its launches and other blocks may not overlap.
//
// Calls come from one thread at a time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/backend.h"
#include "compute/cuda/background.h"
#include "compute/cuda/block_input.h"
#include "compute/cuda/block_times.h"
#include "compute/cuda/flow.h"
#include "compute/cuda/fused.h"
#include "compute/cuda/gpu_index.h"
#include "compute/cuda/line_methods.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/passes.h"
#include "compute/cuda/repeat_output.h"
#include "compute/cuda/voxel_output.h"
#include "compute/cuda/voxels.h"
#include "compute/plan/plan_tables.h"

namespace echolux::cuda {

class CudaRunner : public Reconstructor {
  public:
    // `gpu` is current. Throws Error{bad_setting, device, out_of_memory}.
    CudaRunner(const ReconstructionSpec& plan, const BackendChoice& choice, const NumberedGpu& gpu);
    ~CudaRunner() override;

    const VolumeGrid& grid() const override { return grid_; }
    const std::optional<VolumeGrid>& flow_grid() const override { return flow_grid_; }
    Backend processor() const override { return Backend::cuda; }
    std::string backend() const override;
    Precision precision() const override { return in_halves_ ? Precision::fast : Precision::exact; }
    void prime(const Block& block) override;
    Completion submit(const Block& block, const Places& places) override;
    void wait(Completion completion) override;
    void collect() override;
    int under_way() const override;
    void resume_after(Reconstructor& before) override;
    DeviceId device() const override { return work_.id; }
    std::vector<DeviceWork> device_work() const override;

  private:
    // Reads blocks, and finds their background.
    struct Listener {
        Listener(CudaRunner& runner, const BackendChoice& choice);
        ~Listener();

        Stream stream;
        Event ready;  // what the caller's stream does first
        Event done;
        BlockInput input;
        FrameBackground background;
        bool busy = false;
        std::shared_ptr<const void> keeper;
    };

    // Reconstructs them besides.
    struct Worker : Listener {
        Worker(CudaRunner& runner, const BackendChoice& choice);
        ~Worker();

        VoxelOutput output;
        std::optional<VoxelOutput> flow_output;
        std::map<std::int64_t, VoxelOutput> peaks_outputs;  // by depths of a peak
        RepeatOutput repeats;

        // work(output) for those of the places.
        template <class Work>
        void each_output(const Places& places, const Work& work) {
            work(output);
            if (places.flow) work(*flow_output);
            if (places.peaks) work(peaks_outputs.at(places.peaks->depths));
        }
        template <class Work>
        void each_output(const Work& work) {
            work(output);
            if (flow_output) work(*flow_output);
            for (auto& [depths, peaks] : peaks_outputs) work(peaks);
        }
        std::unique_ptr<Passes> passes;
        std::uint64_t turn = 0;     // whose work it has
        bool for_the_host = false;  // the host has something to do when it is done
        bool queues = false;        // work of an earlier turn may be under way too
        BlockTimes times;
    };

    std::unique_ptr<LineMethod> method(cudaStream_t stream) const;
    std::unique_ptr<Passes> passes(cudaStream_t stream) const;
    std::int64_t slices_per_b_scan() const { return shape_.outputs_per_b_scan / grid_.a_scans; }
    std::int64_t frames_of(const Block& block) const;
    SpectraPath path_of(const Block& block) const;
    void listen(Listener& listener, const Block& block) const;
    void check_places(const Places& places) const;
    void check_for_graph(bool for_the_host) const;
    static bool needs_the_host(const Block& block, const Places& places);
    static void wait_for(Listener& listener, const CallerOrder& order);
    static void follow(Listener& listener, const CallerOrder& order);
    void enqueue(Worker& worker, const Block& block, const Places& places);
    bool says_of_repeats() const;
    BlockTargets targets(Worker& worker, const Block& block, const Places& places) const;
    static void finish(Listener& listener);
    void finish(Worker& worker);

    // `work` enqueues on the listener's stream, where earlier work may still be under way; where it fails, nothing
    // stays under way.
    template <class Work>
    static void hold(Listener& listener, const Block& block, const Work& work);

    std::optional<CurrentDevice> at_the_end_;  // the first member: all others are given back on their device
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
    std::optional<FusedKernel> fused_;  // to bins at least
    bool in_one_kernel_ = false;        // to voxels, and to bins besides where there is flow
    bool in_halves_ = false;            // that kernel, or the method, in half precision
    LineMethods methods_;               // where there is no fused kernel
    std::optional<VoxelStage> voxels_;  // of the separate passes
    std::optional<FlowStage> flow_;
    std::optional<RunningState> running_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::uint64_t turns_ = 0;
    std::vector<std::unique_ptr<Listener>> listeners_;  // of primed blocks, where there is a running background
    std::uint64_t primed_ = 0;
};

}  // namespace echolux::cuda
