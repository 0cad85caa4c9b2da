#include "ui/workspace/actions.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "engine/io/file_name.h"
#include "engine/scan/settings.h"

namespace echolux {

void Actions::add(Action action) {
    if (find(action.id) != nullptr) {
        throw Error(ErrorCode::bad_setting, "an action with this name already exists", action.id);
    }
    for (const std::string& key : action.keys) {
        if (const Action* other = for_key(key)) {
            throw Error(ErrorCode::bad_setting, "the key " + key + " is already used by " + other->id, action.id);
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
        const int points = points_of(typed, action);
        if (points > 0) matches.push_back({&action, action.is_possible(), points});
    }
    std::ranges::stable_sort(matches, [](const Match& a, const Match& b) {
        return std::pair(a.is_possible, a.points) > std::pair(b.is_possible, b.points);
    });
    std::vector<const Action*> best;
    for (const Match& match : matches) best.push_back(match.action);
    return best;
}

// ---- Word match

namespace {

bool is_of_word(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || static_cast<unsigned char>(letter) >= 0x80;
}

// Splits a text into words in lower case, with British spelling of "colour", "gray" and "centre".
std::vector<std::string> words_in(std::string_view text) {
    std::vector<std::string> words;
    bool is_inside = false;
    for (const char letter : lower_case(std::string(text))) {
        if (!is_of_word(letter)) {
            is_inside = false;
            continue;
        }
        if (!is_inside) words.emplace_back();
        is_inside = true;
        words.back() += letter;
    }
    for (std::string& word : words) {
        if (word.starts_with("color")) word.insert(4, "u");
        if (word.starts_with("grey")) word[2] = 'a';
        if (word.starts_with("center")) word.replace(0, 6, "centre");
    }
    return words;
}

// Returns `whole` if a word equals the typed text, `part` if a word begins with it, else 0.
int begun(const std::string& typed, const std::vector<std::string>& words, int whole, int part) {
    int points = 0;
    for (const std::string& word : words) {
        if (word == typed) return whole;
        if (word.starts_with(typed)) points = part;
    }
    return points;
}

// True if the letters are initials of the words in order: "pp" for "Play or pause".
bool are_initials(const std::string& typed, const std::vector<std::string>& words) {
    std::size_t at = 0;
    for (const std::string& word : words) {
        if (at < typed.size() && word.front() == typed[at]) ++at;
    }
    return typed.size() > 1 && at == typed.size();
}

// Matches within words need at least three letters.
int inside(const std::string& typed, const std::vector<std::string>& words) {
    constexpr std::size_t enough = 3;
    if (typed.size() < enough) return 0;
    return std::ranges::any_of(words, [&](const std::string& word) { return word.find(typed) != std::string::npos; })
               ? 4
               : 0;
}

struct Words {
    std::vector<std::string> title, id, group, others, help;
};

// The weights prefer titles and synonyms to ids, groups and help texts.
int points_of(const std::string& typed, const Words& words) {
    constexpr std::size_t enough_for_help = 4;
    int points = std::max({begun(typed, words.title, 20, 14), begun(typed, words.others, 18, 10),
                           begun(typed, words.id, 8, 6), begun(typed, words.group, 6, 5), inside(typed, words.title)});
    if (points == 0 && are_initials(typed, words.title)) points = 3;
    if (points == 0 && typed.size() >= enough_for_help) points = begun(typed, words.help, 2, 1);
    return points;
}

}  // namespace

int points_of(std::string_view typed, const Named& named) {
    const Words words{words_in(named.title), words_in(named.id), words_in(named.group), words_in(named.words),
                      words_in(named.help)};
    int points = 1;
    for (const std::string& one : words_in(typed)) {
        const int of_one = points_of(one, words);
        if (of_one == 0) return 0;
        points += of_one;
    }
    return points;
}

int points_of(std::string_view typed, const Action& action) {
    return points_of(typed, {action.title, action.id, action.group, action.words, ""});
}

int points_of(std::string_view typed, const BoundField& setting, std::string_view label) {
    const std::string key = setting.key();
    return points_of(typed, {label, key, "", setting.words, setting.help});
}

}  // namespace echolux
