// What was changed, so that it can be taken back: the old and new values of settings. Edits of the same keys that are
// still under way are one step.
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
    // Joins the newest step where that is of the same title and still open; `closes` it.
    void add(const Change& change, bool closes);
    void close() { is_open_ = false; }

    // Drops the newest steps that set nothing but keys of `kept`, to other values: they were refused.
    void forget(const std::map<std::string, Value>& kept);

    bool can_undo() const { return next_ > 0; }
    bool can_redo() const { return next_ < changes_.size(); }

    // The step to take back, or to do again; must be possible.
    const Change& undo();
    const Change& redo();

  private:
    static constexpr std::size_t max_steps = 500;
    std::deque<Change> changes_;
    std::size_t next_ = 0;  // that redo() does
    bool is_open_ = false;
};

}  // namespace echolux
