// Builds reconstructors in the background while the user changes settings. The last requested plan is built; earlier
// requests that were not started are dropped.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "compute/backend.h"

namespace echolux {

// A reconstructor and the spec that it was built for.
struct MadePlan {
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
    std::optional<MadePlan> take();
    bool has_made() const;  // take() would return a plan or throw

    // Returns the number of the newest request that failed, 0 if none did.
    std::uint64_t failed() const;

    // Returns a plan that cannot be used yet. A newer one replaces it.
    void put_back(MadePlan made);

  private:
    void work(const std::stop_token& stop);

    Make make_;
    mutable std::mutex mutex_;
    std::condition_variable_any wanted_comes_;
    std::uint64_t number_ = 0;  // number of the newest request
    std::uint64_t failed_ = 0;
    std::optional<ReconstructionSpec> wanted_;
    std::optional<MadePlan> made_;
    std::exception_ptr failure_;
    std::jthread thread_;  // declared last: starts last, ends first
};

}  // namespace echolux
