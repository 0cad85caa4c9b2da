#include "app/session/undo.h"
#include "compute/plan/describe.h"

namespace echolux {

void UndoHistory::add(const Change& change, bool closes) {
    const bool joins = is_open_ && next_ > 0 && !can_redo() && changes_.back().title == change.title;
    if (joins) {
        Change& step = changes_.back();
        step.before.insert(change.before.begin(), change.before.end());  // existing values are older and are kept
        for (const auto& [key, value] : change.after) step.after[key] = value;
    } else if (change.before != change.after) {
        changes_.resize(next_);
        changes_.push_back(change);
        if (changes_.size() > max_steps) changes_.pop_front();
        next_ = changes_.size();
    } else {
        return close();
    }
    is_open_ = !closes;
    if (closes && changes_.back().before == changes_.back().after) {  // dragged back to the original value
        changes_.pop_back();
        next_ = changes_.size();
    }
}

void UndoHistory::forget(const std::map<std::string, Value>& kept) {
    close();
    const auto never_came_to_be = [&](const Change& step) {
        bool differs = false;
        for (const auto& [key, value] : step.after) {
            const auto found = kept.find(key);
            if (found == kept.end()) return false;
            differs = differs || found->second != value;
        }
        return differs;
    };
    while (can_undo() && never_came_to_be(changes_[next_ - 1])) {
        changes_.resize(--next_);  // steps that could be redone followed from this one
    }
}

const Change& UndoHistory::undo() {
    close();
    return changes_.at(--next_);
}

const Change& UndoHistory::redo() {
    close();
    return changes_.at(next_++);
}

}  // namespace echolux
