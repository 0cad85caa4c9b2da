// Sheet above the window that Esc closes, such as palette, key map and dialogs. The window behind it keeps running.
#pragma once

#include <string>

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

}  // namespace echolux
