// The overlays without data of their own: about, key map, command palette, tour.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ui/window/overlay.h"

namespace echolux {

// Name, version, devices and licences.
class About : public Overlay {
  public:
    void draw(const PanelContext& context, ImVec2 size) override;
};

// All keys of all actions and what the mouse does.
class KeyMap : public Overlay {
  public:
    void draw(const PanelContext& context, ImVec2 size) override;
};

// The command palette: actions, panels and settings, by typing some of their words or what people call them. It says
// what Enter will do. A setting that is chosen has its control here.
class CommandPalette : public Overlay {
  public:
    void draw(const PanelContext& context, ImVec2 size) override;

  private:
    struct Row {
        const Action* action = nullptr;  // nothing: a setting
        std::string key;                 // of the action, or of the setting
        std::string title, group;
        bool is_possible = true;
        int points = 0;
    };

    std::vector<Row> rows_for(Workspace& work) const;
    void move_choice(int count);
    void draw_row(const PanelContext& context, const Row& row, bool is_chosen);
    void draw_rows(const PanelContext& context);
    void draw_setting(const PanelContext& context);
    void choose(const PanelContext& context, const Row& row);

    std::string typed_;
    std::string setting_;  // whose control is shown; empty: the list
    int chosen_ = 0;
    bool follows_ = false;  // the list moves so that the chosen row is seen
};

// Hints for the first minute, one after the other, each with a frame around what it is about.
class Tour : public Overlay {
  public:
    void draw(const PanelContext& context, ImVec2 size) override;

  private:
    void point_at(const PanelContext& context, const std::vector<std::string_view>& names) const;

    std::size_t hint_ = 0;
};

}  // namespace echolux
