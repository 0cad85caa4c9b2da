// The layout of the window: rectangles of its parts from its size. Pure functions, so that every size can be tested.
#pragma once

#include <cstdint>
#include <vector>

#include "app/session/window_settings.h"
#include "app/stage/pane_view.h"
#include "render/region.h"

namespace echolux {

struct WindowPlan {
    Region top, left, right, centre, bottom, status;  // no width: it is folded away
};

struct WindowNeeds {
    std::int64_t width = 0, height = 0;  // pixels
    double scale = 1;
    bool is_open = false;     // else the start page stands alone
    std::int64_t bottom = 0;  // height of the panels below the panes
    bool aligns = false;      // the alignment view stands in the middle
};

WindowPlan plan_window(const WindowSettings& settings, const WindowNeeds& needs);

struct PanePlace {
    PaneKind kind;
    Region place;
};

// A line between panes that can be dragged: which share of window.pane_split it is, and of which length in pixels.
struct PaneSplit {
    Region handle;
    bool is_upright;    // between left and right
    std::size_t share;  // index into window.pane_split
    std::int64_t begin, length;
};

struct PanePlan {
    std::vector<PanePlace> panes;
    std::vector<PaneSplit> splits;
};

// Beside each other where there is room, else the volume above a row of sections.
PanePlan plan_panes(const Region& centre, PaneLayout layout, const std::vector<double>& split, double scale);

}  // namespace echolux
