#include "ui/workspace/actions.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "compute/error.h"
#include "engine/io/lower_case.h"

namespace echolux {
namespace {

// How well typed letters fit a text, both in lower case, in the text's order: those that begin words or follow one
// another count more. Nothing: some letter is missing.
std::optional<int> fit(std::string_view typed, std::string_view text) {
    int points = 0;
    std::size_t at = 0;
    bool follows = false;
    for (const char wanted : typed) {
        if (wanted == ' ') continue;
        const std::size_t before = at;
        while (at < text.size() && text[at] != wanted) ++at;
        if (at == text.size()) return std::nullopt;
        const bool begins_word = at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0;
        points += 1 + (begins_word ? 3 : 0) + (follows && at == before ? 4 : 0);
        follows = true;
        ++at;
    }
    return points;
}

std::optional<int> fit(std::string_view typed, const Action& action) {
    const std::optional<int> title = fit(typed, lower_case(action.title));
    const std::optional<int> id = fit(typed, lower_case(action.id));
    if (!title) return id;
    return std::max(*title + 1, id.value_or(0));
}

}  // namespace

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
    const std::function<void()> work = action->run;  // which may add actions
    work();
    return true;
}

std::vector<const Action*> Actions::matching(std::string_view typed) const {
    struct Match {
        const Action* action;
        bool is_possible;
        int points;
    };
    const std::string letters = lower_case(std::string(typed));
    std::vector<Match> matches;
    for (const Action& action : actions_) {
        if (const auto points = fit(letters, action)) matches.push_back({&action, action.is_possible(), *points});
    }
    std::ranges::stable_sort(matches, [](const Match& a, const Match& b) {
        return std::pair(a.is_possible, a.points) > std::pair(b.is_possible, b.points);
    });
    std::vector<const Action*> best;
    for (const Match& match : matches) best.push_back(match.action);
    return best;
}

}  // namespace echolux
