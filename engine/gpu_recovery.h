// What becomes of work whose GPU fails in the midst of it, live and with files: the GPU is set up anew, and where it
// fails again soon the CPU takes over, unless somebody insists on GPUs. A failure of long ago is forgotten.
#pragma once

#include <chrono>
#include <optional>

#include "compute/backend.h"
#include "compute/error.h"

namespace echolux {

class GpuRecovery {
  public:
    using Clock = std::chrono::steady_clock;

    explicit GpuRecovery(const BackendChoice& wanted) : backend_(wanted) {}

    // What to plan on now.
    const BackendChoice& backend() const { return backend_; }

    // Whether `problem` says that the GPU has failed on which `processor` worked.
    static bool is_of_gpu(const Error& problem, Backend processor) {
        return problem.code() == ErrorCode::device && processor == Backend::cuda;
    }

    // Whether work that ended so may go on with a reconstructor planned anew, on what backend() says from now on.
    // False: whoever asked for the work gets the error.
    bool recovers(const Error& problem, Backend processor, Clock::time_point now = Clock::now());

    // Of several that share the work: those that have failed. What is planned from now on does without them.
    void leave_out_failed(const std::vector<DeviceWork>& devices);

    static constexpr std::chrono::minutes forgotten_after{10};

  private:
    BackendChoice backend_;
    std::optional<Clock::time_point> failed_at_;  // lately
};

}  // namespace echolux
