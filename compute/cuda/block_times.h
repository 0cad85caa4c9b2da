// Measures the processing steps of a block on a GPU's stream with events. Optional, because each mark is an additional
// call per block.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <optional>

#include "compute/cuda/memory.h"
#include "compute/reconstructor.h"

namespace echolux::cuda {

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
        TimedEvent() { checked(cudaEventCreateWithFlags(&event, cudaEventDefault), "make an event"); }
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

}  // namespace echolux::cuda
