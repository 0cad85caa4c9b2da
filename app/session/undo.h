// Undo history: old and new values of changed settings. Unfinished edits of the same keys are merged to one step.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "compute/plan/describe.h"

namespace echolux {

struct Change {
    std::string title;                           // "view.low"
    std::map<std::string, Value> before, after;  // by key
};

class UndoHistory {
  public:
    // Merges with the newest step if that has the same title and is still open. `closes` ends the step.
    void add(const Change& change, bool closes);
    void close() { is_open_ = false; }

    // Drops the newest steps that only set keys of `kept`, to other values: these were refused.
    void forget(const std::map<std::string, Value>& kept);

    bool can_undo() const { return next_ > 0; }
    bool can_redo() const { return next_ < changes_.size(); }

    // Return the step to apply. Call only if there is one.
    const Change& undo();
    const Change& redo();

  private:
    static constexpr std::size_t max_steps = 500;
    std::deque<Change> changes_;
    std::size_t next_ = 0;  // index of the step for redo()
    bool is_open_ = false;
};

}  // namespace echolux
