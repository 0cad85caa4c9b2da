// Between who reconstructs live volumes and the ring they are shown from: where something is to be done to them
// (engine/live/tissue_work.h), they are reconstructed into one of two places of this stage, and a thread of its own
// works on them and has them shown. While it works on one, the next one comes; while both places are taken, volumes are
// skipped and counted. Acquisition, recording and pictures never wait for it.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "app/live/tissue_on_gpu.h"
#include "engine/live/tissue_work.h"
#include "engine/live/volume_ring.h"

namespace echolux {

class TissueStage {
  public:
    // Gets places of the display, and what writes to them; on the stage's thread. Nobody may want the volume: then
    // nothing is written.
    using Show = std::function<void(const VolumeStamp& stamp, const TissueOnGpu::Write& write)>;
    using Hear = std::function<void(const TissueDone& done, const VolumeGrid& grid)>;

    explicit TissueStage(Show show, Hear hear);
    ~TissueStage();  // what waits is given up

    // ---- the thread that feeds

    // From the next volume on.
    void set(const LiveTissue& tissue) { tissue_ = std::make_shared<const LiveTissue>(tissue); }
    const LiveTissue& settings() const { return *tissue_; }

    // Where a volume goes that begins; `gpu`: it lies in the memory of that one. Nothing: it is skipped, and counted.
    // Throws Error{out_of_memory}.
    std::optional<Places> begin(const VolumeStamp& stamp, const VolumeGrid& grid,
                                const std::optional<VolumeGrid>& flow_grid, const std::optional<DeviceId>& gpu);

    // It is whole and written; or it never will be, and nobody writes to it any more.
    void hand_over();
    void drop();

    // What went wrong with a device meanwhile, once.
    void rethrow();

    // Nothing that was handed over is shown any more when it returns: it is given up, and counted as skipped. Work
    // under way ends by itself, soon.
    void cancel();

    // The same, and waits for that; lets go of all memory.
    void clear();

    // ---- any thread

    // Waits until what was handed over is shown. False: it takes longer.
    bool finish(std::chrono::milliseconds patience);

    TissueLog& log() { return log_; }
    const TissueLog& log() const { return log_; }

  private:
    enum class State { free, coming, waiting, at_work };
    struct Staged {
        State state = State::free;
        bool is_given_up = false, is_showing = false;  // of one at work
        std::uint64_t turn = 0;
        VolumeStamp stamp;
        std::shared_ptr<const LiveTissue> tissue;
        std::optional<DeviceId> gpu;
        Volume structure;  // where the CPU reconstructs
        std::optional<Volume> flow;
        VolumeThere there;  // where a GPU does
    };
    class Cancelling;

    void work(const std::stop_token& stop);
    Staged* next();
    void process(Staged& staged);
    TissueDone process_on_host(Staged& staged, Progress& progress);
    TissueDone process_on_gpu(Staged& staged, Progress& progress);
    void show(Staged& staged, const TissueOnGpu::Write& write);
    void free_one(State of);
    bool is_idle() const;
    bool is_quiet() const;

    Show show_;
    Hear hear_;
    TissueLog log_;
    std::shared_ptr<const LiveTissue> tissue_ = std::make_shared<const LiveTissue>();

    mutable std::mutex mutex_;  // of what follows, and of the states
    std::condition_variable_any changed_;
    std::array<Staged, 2> staged_;
    std::uint64_t turns_ = 0;
    std::exception_ptr problem_;

    // Of the thread that works.
    TissueWork on_host_;
    std::shared_ptr<const LiveTissue> set_on_host_, set_on_gpu_;
    std::optional<TissueOnGpu> on_gpu_;
    std::optional<DeviceId> gpu_;
    std::jthread thread_;  // begins with the first volume
};

}  // namespace echolux
