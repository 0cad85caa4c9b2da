// Makes reconstructors beside the work, while a setting is being turned: the last plan asked for is made, those before
// it that nobody began are left out.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "compute/backend.h"

namespace echolux {

struct MadePlan {
    ReconstructionPlan plan;
    ChosenReconstructor chosen;
};

class PlanMaker {
  public:
    // May complete what the plan leaves open.
    using Make = std::function<ChosenReconstructor(ReconstructionPlan&)>;

    explicit PlanMaker(Make make);
    ~PlanMaker();  // waits for the one that is being made

    // From any thread.
    void want(const ReconstructionPlan& plan);

    // What has been made since the last call, once. Throws what making it threw.
    std::optional<MadePlan> take();

    // Gives back what cannot be used yet; a newer one takes its place.
    void put_back(MadePlan made);

  private:
    void work(const std::stop_token& stop);

    Make make_;
    std::mutex mutex_;
    std::condition_variable_any wanted_comes_;
    std::optional<ReconstructionPlan> wanted_;
    std::optional<MadePlan> made_;
    std::exception_ptr failure_;
    std::jthread thread_;  // begins last, ends first
};

}  // namespace echolux
