// Sheets above the window that Esc closes: about, key map, command palette, tour, questions, and the dialog for raw
// files; the file dialog is another one. The window behind them keeps running.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ui/panels/panel.h"

namespace echolux {

class Overlay {
  public:
    virtual ~Overlay() = default;

    bool is_open() const { return is_open_; }
    void open() {
        is_open_ = true;
        is_new_ = true;
    }
    void close() { is_open_ = false; }

    // `size` is the size of the window in pixels.
    virtual void draw(const PanelContext& context, ImVec2 size) = 0;

  protected:
    struct Sheet {
        float width, height;          // at scale 1, limited by the window; height 0: automatic
        float from_top = -1;          // distance from the top relative to the window height; negative: centred
        bool closes_outside = false;  // a click outside closes the sheet
    };

    // Opens an ImGui window for the sheet. Always call end_sheet() afterwards.
    void begin_sheet(const PanelContext& context, ImVec2 size, const char* name, const Sheet& sheet);
    void end_sheet();
    void title(const PanelContext& context, const char* text);

    // True in the first frame after open().
    bool is_new() const { return is_new_; }

  private:
    bool is_open_ = false, is_new_ = false, closes_outside_ = false;
    PanelState* sheet_state_ = nullptr;  // valid between begin_sheet() and end_sheet()
};

// ---- About, key map, command palette and tour

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

// ---- Question of the workspace. Everything else waits for the answer; sources and recordings continue.

class QuestionDialog : public Overlay {
  public:
    void draw(const PanelContext& context, ImVec2 size) override;
};

// ---- Dialog for a raw file without a description: a proposal with a preview, which the user corrects and accepts.

class RawDialog : public Overlay {
  public:
    // Draws the dialog while the workspace has a proposal.
    void draw(const PanelContext& context, ImVec2 size) override;

    void close(const PanelContext& context);  // discards the proposal; the file stays without a description

  private:
    void draw_guesses(const PanelContext& context);
    void draw_settings(const PanelContext& context);
    void draw_preview(const PanelContext& context, ImVec2 size) const;
    void draw_answer(const PanelContext& context);
};

}  // namespace echolux
