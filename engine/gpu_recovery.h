// Decides how to continue when a GPU fails during live or offline work. The first failure reinitializes the GPU.
// Another one within forgotten_after switches to the CPU, unless the user insists on GPUs.
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

    // Returns the backend to plan the next reconstructor on.
    const BackendChoice& backend() const { return backend_; }

    // Returns whether `problem` is a GPU failure of work that ran on `processor`.
    static bool is_of_gpu(const Error& problem, Backend processor) {
        return problem.code() == ErrorCode::device && processor == Backend::cuda;
    }

    // Returns whether work that ended with `problem` may continue with a new reconstructor planned on backend(). If
    // false, pass the error on to the caller.
    bool recovers(const Error& problem, Backend processor, Clock::time_point now = Clock::now());

    // Excludes the failed devices of `devices` from later plans.
    void leave_out_failed(const std::vector<DeviceWork>& devices);

    static constexpr std::chrono::minutes forgotten_after{10};

  private:
    BackendChoice backend_;
    std::optional<Clock::time_point> failed_at_;  // the last failure
};

}  // namespace echolux
