// Curves over one axis: grid, units, read-out under the pointer. The wheel zooms the horizontal axis, a drag moves it,
// a double click shows all of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ui/panels/panel.h"
#include "ui/panels/plot_geometry.h"

namespace echolux {

struct PlotTrace {
    const char* name;  // in the read-out; empty: it is not read
    PlotCurve curve;
    ImVec4 colour;
};

// The area between two curves.
struct PlotBand {
    PlotCurve low, high;
    ImVec4 colour;
};

// A line across the plot at one value.
struct PlotLevel {
    double value;
    const char* name;
    ImVec4 colour;
    bool is_upright = false;  // at a place of the horizontal axis
};

struct PlotAxis {
    const char* title;
    const char* unit;
};

struct Plot {
    const char* title;  // also its name within ImGui's present scope
    PlotAxis across, up;
    PlotRange whole_across;
    std::optional<PlotRange> up_range = {};  // nothing: as the curves need
    std::vector<PlotBand> bands = {};
    std::vector<PlotTrace> traces = {};
    std::vector<PlotLevel> levels = {};
    bool is_logarithmic = false;  // upwards: decades; what is not above zero is not shown
};

// What is zoomed to; nothing: all.
struct PlotZoom {
    std::optional<PlotRange> across;
};

void draw_plot(const PanelContext& context, const Plot& plot, PlotZoom& zoom, ImVec2 size);

}  // namespace echolux
