// Plans of reconstructors: built in the background while settings change, and made again after a GPU has failed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "compute/backend.h"
#include "compute/error.h"

namespace echolux {

// ---- Builds reconstructors in the background while the user changes settings. The last requested plan is built;
// earlier requests that were not started are dropped.

// A reconstructor and the spec that it was built for.
struct PreparedPlan {
    ReconstructionSpec spec;
    ChosenReconstructor chosen;
    std::uint64_t number = 0;  // number of the request
};

// Owns the thread that builds reconstructors.
class PlanMaker {
  public:
    // Builds a reconstructor; may complete open values of the spec. Called by the maker's thread.
    using Make = std::function<ChosenReconstructor(ReconstructionSpec&)>;

    explicit PlanMaker(Make make);
    ~PlanMaker();  // waits for the plan in progress

    // Requests a plan. Callable from any thread. Requests are numbered from 1.
    void want(const ReconstructionSpec& spec);
    std::uint64_t wanted() const;

    // Returns the plan built since the last call, if any. Throws the error of building it; plans requested before the
    // failed one are discarded.
    std::optional<PreparedPlan> take();
    bool has_made() const;  // take() would return a plan or throw

    // Returns the number of the newest request that failed, 0 if none did.
    std::uint64_t failed() const;

    // Returns a plan that cannot be used yet. A newer one replaces it.
    void put_back(PreparedPlan made);

  private:
    void work(const std::stop_token& stop);

    Make make_;
    mutable std::mutex mutex_;
    std::condition_variable_any wanted_comes_;
    std::uint64_t number_ = 0;  // number of the newest request
    std::uint64_t failed_ = 0;
    std::optional<ReconstructionSpec> wanted_;
    std::optional<PreparedPlan> made_;
    std::exception_ptr failure_;
    std::jthread thread_;  // declared last: starts last, ends first
};

// ---- Decides how to continue when a GPU fails during live or offline work. The first failure reinitializes the GPU.
// Another one within forgotten_after switches to the CPU, unless the user insists on GPUs.

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
