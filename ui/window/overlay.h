// A sheet above the window that Esc closes: palette, key map, dialogs. Everything behind it goes on.
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

    // `size`: of the window in pixels.
    virtual void draw(const PanelContext& context, ImVec2 size) = 0;

  protected:
    struct Sheet {
        float width, height;          // at scale 1, and at most what the window has room for; height 0: as it needs
        float from_top = -1;          // part of the window's height above it; negative: in the middle
        bool closes_outside = false;  // a click beside it closes it
    };

    // Opens an ImGui window for the sheet; end_sheet() follows whatever this says.
    void begin_sheet(const PanelContext& context, ImVec2 size, const char* name, const Sheet& sheet);
    void end_sheet();
    void title(const PanelContext& context, const char* text);

    // Whether this is the first picture since open().
    bool is_new() const { return is_new_; }

  private:
    bool is_open_ = false, is_new_ = false, closes_outside_ = false;
    PanelState* sheet_state_ = nullptr;  // between begin_sheet() and end_sheet()
};

}  // namespace echolux
