// Everything the user can make the program do, by name: menus, keys, the command palette and tests go through here.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace echolux {

// A key by its name as people read it: "Space", "Ctrl+K", "Shift+Left", "?", "F11", "Esc".
struct Action {
    std::string id;                 // "timeline.play"
    std::string title;              // "Play or pause"
    std::string group;              // "Time"
    std::vector<std::string> keys;  // any of them; none: by palette and menu only
    std::function<void()> run;
    std::function<bool()> is_possible = [] { return true; };
    std::function<bool()> is_on = {};  // of what is switched; empty: not a switch
    std::function<void()> show = {};   // to where it is: who searches for it does not mean to switch it off
};

class Actions {
  public:
    // Throws Error{bad_setting} for an id or key that is taken.
    void add(Action action);

    const std::vector<Action>& all() const { return actions_; }
    const Action* find(std::string_view id) const;
    const Action* for_key(std::string_view key) const;

    // Runs it where it is possible; whether it was. What it throws passes through.
    bool run(std::string_view id) const;

    // For the palette: those that fit what is typed (see word_match.h), best first; possible ones before others.
    std::vector<const Action*> matching(std::string_view typed) const;

  private:
    std::vector<Action> actions_;
};

}  // namespace echolux
