// Overlays: about, key map, command palette and tour.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ui/window/overlay.h"

namespace echolux {

// Shows name, version, devices and licences.
class About : public Overlay {
  public:
    void draw(const PanelContext& context, ImVec2 size) override;
};

// Shows the keys of all actions and the mouse bindings.
class KeyMap : public Overlay {
  public:
    void draw(const PanelContext& context, ImVec2 size) override;
};

// Command palette: finds actions, panels and settings by words of their names or by synonyms. It shows what Enter will
// do. A chosen setting can be changed in the palette.
class CommandPalette : public Overlay {
  public:
    void draw(const PanelContext& context, ImVec2 size) override;

  private:
    struct Row {
        const Action* action = nullptr;  // nullptr for a setting
        std::string key;                 // key of the setting, or id of the action
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
    std::string setting_;  // the setting being changed; empty: the list
    int chosen_ = 0;
    bool follows_ = false;  // scroll to the chosen row
};

// Hints for new users, one at a time, each with a frame around the control that it describes.
class Tour : public Overlay {
  public:
    void draw(const PanelContext& context, ImVec2 size) override;

  private:
    void point_at(const PanelContext& context, const std::vector<std::string_view>& names) const;

    std::size_t hint_ = 0;
};

}  // namespace echolux
