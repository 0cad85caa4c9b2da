// Makes steps of a series in memory ahead of their use, on a background thread and within a budget: first the step
// wanted now, then those that follow in the playback direction, looping between two ends. The step farthest ahead is
// discarded to make room. After a jump, the wanted step is made next. A step may be anything, such as voxels from a
// file or a texture on a graphics device.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/interval.h"

namespace echolux {

// Thread-safe.
class StepsAhead {
  public:
    struct Step {
        std::shared_ptr<const void> what;
        std::int64_t bytes = 0;
    };

    // Makes a step; may throw. Called by the background thread.
    using Make = std::function<Step(std::int64_t step)>;
    // Returns whether a step can be made now; checked again after each want(). An empty function means always.
    using CanMake = std::function<bool(std::int64_t step)>;

    // `first` is the number of an existing step, and the step. The budget covers all steps in memory, including the one
    // being made; one step is always allowed. `step_bytes` is the expected size of a step, if known.
    StepsAhead(std::int64_t steps, std::int64_t budget_bytes, Make make,
               std::optional<std::pair<std::int64_t, Step>> first = {}, CanMake can_make = {},
               std::int64_t step_bytes = 0);
    ~StepsAhead();  // waits for the step in progress
    StepsAhead(const StepsAhead&) = delete;
    StepsAhead& operator=(const StepsAhead&) = delete;

    std::int64_t steps() const { return steps_; }

    // Sets the step wanted now, the playback direction (+1 or -1) and the range of the loop.
    void want(std::int64_t step, int direction, Interval round);

    // Returns nullopt if the step is not there yet, or a null pointer if it cannot be made.
    std::optional<std::shared_ptr<const void>> find(std::int64_t step) const;

    std::vector<Interval> ready() const;
    std::int64_t bytes() const;  // bytes in memory

    // Releases a reference on the background thread, because destroying a step may take time.
    void let_go(std::shared_ptr<const void> what);

    // Returns why steps could not be made, without repetition.
    std::vector<std::string> take_problems();

  private:
    using Gone = std::vector<std::shared_ptr<const void>>;

    void work(const std::stop_token& stop);
    std::optional<std::int64_t> next() const;
    std::int64_t steps_ahead(std::int64_t step) const;
    void make_room(std::int64_t step);
    void make(std::int64_t step);

    const std::int64_t steps_;
    const std::int64_t budget_bytes_;
    const Make make_;
    const CanMake can_make_;

    mutable std::mutex mutex_;  // guards the members below
    std::condition_variable_any changed_;
    std::int64_t wanted_ = 0;
    int direction_ = 1;
    Interval round_;
    std::map<std::int64_t, Step> made_;  // steps without `what` cannot be made
    std::int64_t bytes_ = 0;             // total size of made_
    std::int64_t step_bytes_;            // size of the largest step made
    Gone gone_;                          // to be released by the thread
    std::vector<std::string> problems_;
    std::set<std::string> said_;
    std::jthread thread_;  // declared last: starts last, ends first
};

}  // namespace echolux
