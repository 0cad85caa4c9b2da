// Makes reconstructors beside the work, while a setting is being turned: the last plan asked for is made, those before
// it that nobody began are left out.
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

struct MadePlan {
    ReconstructionSpec spec;
    ChosenReconstructor chosen;
    std::uint64_t number = 0;  // of the request
};

class PlanMaker {
  public:
    // May complete what the spec leaves open.
    using Make = std::function<ChosenReconstructor(ReconstructionSpec&)>;

    explicit PlanMaker(Make make);
    ~PlanMaker();  // waits for the one that is being made

    // From any thread. Requests are counted from 1 on.
    void want(const ReconstructionSpec& spec);
    std::uint64_t wanted() const;

    // What has been made since the last call, once. Throws what making it threw; none that was asked for before the one
    // that failed is ever given then.
    std::optional<MadePlan> take();
    bool has_made() const;  // something, to be taken or thrown

    // The newest that could not be made; 0: none.
    std::uint64_t failed() const;

    // Gives back what cannot be used yet; a newer one takes its place.
    void put_back(MadePlan made);

  private:
    void work(const std::stop_token& stop);

    Make make_;
    mutable std::mutex mutex_;
    std::condition_variable_any wanted_comes_;
    std::uint64_t number_ = 0;  // of the newest request
    std::uint64_t failed_ = 0;
    std::optional<ReconstructionSpec> wanted_;
    std::optional<MadePlan> made_;
    std::exception_ptr failure_;
    std::jthread thread_;  // begins last, ends first
};

}  // namespace echolux
