// Steps of a series that are wanted soon, made on a thread of their own into memory with a budget: first the one that
// is wanted now, then those that follow in the direction in which one goes, round and round between two ends. Whatever
// is farthest ahead makes room. After a jump the next one that is made is the one that is wanted then. What a step is,
// its users know: voxels read from a file, a texture on a graphics device.
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

class StepsAhead {
  public:
    struct Step {
        std::shared_ptr<const void> what;
        std::int64_t bytes = 0;
    };

    // Throws what it will; called by one thread at a time, another than the one that made this.
    using Make = std::function<Step(std::int64_t step)>;
    // Whether a step can be made now; asked again whenever something is wanted. Empty: always.
    using CanMake = std::function<bool(std::int64_t step)>;

    // `first`: a step that is there already, and its number. The budget is of all steps in memory, the one being made
    // included; one step may always be there. `step_bytes`: what a step takes, as far as that is known.
    StepsAhead(std::int64_t steps, std::int64_t budget_bytes, Make make,
               std::optional<std::pair<std::int64_t, Step>> first = {}, CanMake can_make = {},
               std::int64_t step_bytes = 0);
    ~StepsAhead();  // waits for what is being made
    StepsAhead(const StepsAhead&) = delete;
    StepsAhead& operator=(const StepsAhead&) = delete;

    std::int64_t steps() const { return steps_; }

    void want(std::int64_t step, int direction, Interval round);

    // Nothing: not yet. An empty pointer inside: it cannot be made.
    std::optional<std::shared_ptr<const void>> find(std::int64_t step) const;

    std::vector<Interval> ready() const;
    std::int64_t bytes() const;  // in memory

    // The last reference to a step may take time to be given up: the thread does it, as with what makes room.
    void let_go(std::shared_ptr<const void> what);

    // Why steps cannot be made, each line once.
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

    mutable std::mutex mutex_;  // of what follows
    std::condition_variable_any changed_;
    std::int64_t wanted_ = 0;
    int direction_ = 1;
    Interval round_;
    std::map<std::int64_t, Step> made_;  // empty: cannot be made
    std::int64_t bytes_ = 0;             // of them
    std::int64_t step_bytes_;            // of the largest so far
    Gone gone_;                          // to be given up
    std::vector<std::string> problems_;
    std::set<std::string> said_;
    std::jthread thread_;  // begins last, ends first
};

}  // namespace echolux
