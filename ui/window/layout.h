// Layout of the window: computes the rectangles of its parts. Pure functions, so that every size can be tested.
#pragma once

#include <cstdint>
#include <vector>

#include "app/settings/settings_book.h"
#include "app/viewer/pane_view.h"
#include "render/picture.h"

namespace echolux {

constexpr float bar_height = 40;  // of the top bar, in pixels at scale 1

struct WindowPlan {
    Region top, left, right, centre, bottom, status;  // zero width: hidden
};

// Input of the layout.
struct WindowNeeds {
    std::int64_t width = 0, height = 0;  // pixels
    double scale = 1;
    bool is_open = false;     // false: only the start page is shown
    std::int64_t bottom = 0;  // height of the panels below the panes in pixels
    bool aligns = false;      // the alignment view replaces the panes
    bool has_form = false;    // the form of an operation is shown beside the start page
};

// Returns the rectangles in pixels from the upper left corner.
WindowPlan plan_window(const WindowSettings& settings, const WindowNeeds& needs);

struct PaneArea {
    PaneKind kind;
    Region place;
};

// Draggable line between panes, with its index in window.pane_split and the length in pixels that a share of 1 covers.
struct PaneSplit {
    Region handle;
    bool is_upright;    // separates left and right
    std::size_t share;  // index into window.pane_split
    std::int64_t begin, length;
};

struct PanePlan {
    std::vector<PaneArea> panes;
    std::vector<PaneSplit> splits;
};

// Arranges the panes side by side in a wide window, otherwise the volume above a row of sections.
PanePlan plan_panes(const Region& centre, PaneLayout layout, const std::vector<double>& split, double scale);

}  // namespace echolux
