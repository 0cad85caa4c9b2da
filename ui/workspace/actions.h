// Everything that users can make the program do, by name, and how typed words find it. Menus, keys, the command palette
// and tests run actions.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace echolux {

// Keys are named as people read them: "Space", "Ctrl+K", "Shift+Left", "?", "F11", "Esc".
struct Action {
    std::string id;                 // such as "timeline.play"
    std::string title;              // such as "Play or pause"
    std::string group;              // such as "Time"
    std::vector<std::string> keys;  // alternatives; empty: palette and menu only
    std::string words = {};         // further words that people search for, such as "start stop movie"
    std::function<void()> run;
    std::function<bool()> is_possible = [] { return true; };
    std::function<bool()> is_on = {};  // state of a switch; empty: not a switch
    std::function<void()> show = {};   // shows the controls; the palette calls it instead of switching off
    int menu_place = 0;                // order in its menu; lines separate tens; equal places keep the order of add()
};

class Actions {
  public:
    // Throws Error{bad_setting} if the id or a key is in use.
    void add(Action action);

    const std::vector<Action>& all() const { return actions_; }
    const Action* find(std::string_view id) const;
    const Action* for_key(std::string_view key) const;

    // Runs the action if it is possible and returns whether it ran. Exceptions of the action pass through.
    bool run(std::string_view id) const;

    // Returns the actions that match the typed text, best first, possible ones before others.
    std::vector<const Action*> matching(std::string_view typed) const;

  private:
    std::vector<Action> actions_;
};

// ---- Rates how well typed words match a named item. Each typed word must be the beginning of one of its words or
// synonyms, or be contained in its title.

struct BoundField;

struct Named {
    std::string_view title;  // such as "Play or pause"
    std::string_view id;     // such as "timeline.play"
    std::string_view group;  // such as "Time"
    std::string_view words;  // synonyms: "start stop movie"
    std::string_view help;   // a sentence with the lowest weight
};

// Returns 0 if a typed word does not match, otherwise more for better matches. An empty text matches everything.
int points_of(std::string_view typed, const Named& named);

int points_of(std::string_view typed, const Action& action);
int points_of(std::string_view typed, const BoundField& setting, std::string_view label);

// ---- Actions of every window (standard_actions.cpp), with the keys that users of 3D Slicer and ParaView expect.
// Actions that could cost a recording or a measurement need more than one key.

class Workspace;

// Adds the actions for files, sessions, source, time, view, slices and layout, for calibration, filtered and stabilised
// volumes, and layers. Actions with dialogs are added by the window.
void add_standard_actions(Workspace& work);

}  // namespace echolux
