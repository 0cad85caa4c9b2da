#include "ui/workspace/actions.h"

#include <algorithm>
#include <utility>

#include "compute/error.h"
#include "ui/workspace/word_match.h"

namespace echolux {

void Actions::add(Action action) {
    if (find(action.id) != nullptr) {
        throw Error(ErrorCode::bad_setting, "there is an action of this name already", action.id);
    }
    for (const std::string& key : action.keys) {
        if (const Action* other = for_key(key)) {
            throw Error(ErrorCode::bad_setting, "the key " + key + " is taken by " + other->id, action.id);
        }
    }
    actions_.push_back(std::move(action));
}

const Action* Actions::find(std::string_view id) const {
    const auto found = std::ranges::find(actions_, id, &Action::id);
    return found == actions_.end() ? nullptr : &*found;
}

const Action* Actions::for_key(std::string_view key) const {
    const auto found = std::ranges::find_if(
        actions_, [&](const Action& action) { return std::ranges::find(action.keys, key) != action.keys.end(); });
    return found == actions_.end() ? nullptr : &*found;
}

bool Actions::run(std::string_view id) const {
    const Action* action = find(id);
    if (action == nullptr || !action->is_possible()) return false;
    const std::function<void()> work = action->run;  // a copy, because running it may add actions
    work();
    return true;
}

// Actions that are possible come before all others, then by points.
std::vector<const Action*> Actions::matching(std::string_view typed) const {
    struct Match {
        const Action* action;
        bool is_possible;
        int points;
    };
    std::vector<Match> matches;
    for (const Action& action : actions_) {
        const int points = points_of(typed, {action.title, action.id, action.group, search_words(action.id), ""});
        if (points > 0) matches.push_back({&action, action.is_possible(), points});
    }
    std::ranges::stable_sort(matches, [](const Match& a, const Match& b) {
        return std::pair(a.is_possible, a.points) > std::pair(b.is_possible, b.points);
    });
    std::vector<const Action*> best;
    for (const Match& match : matches) best.push_back(match.action);
    return best;
}

}  // namespace echolux
