// Plot of curves with grid, units and values at the pointer. The wheel zooms the horizontal axis, a drag pans it, a
// double click shows all of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ui/panels/panel.h"
#include "ui/panels/plot_geometry.h"

namespace echolux {

struct PlotTrace {
    const char* name;  // name in legend and tooltip; empty: not listed
    PlotCurve curve;
    ImVec4 colour;
};

// Filled area between two curves.
struct PlotBand {
    PlotCurve low, high;
    ImVec4 colour;
};

// Straight line across the plot.
struct PlotLevel {
    double value;
    const char* name;
    ImVec4 colour;
    bool is_upright = false;  // vertical line, at a value of the horizontal axis
};

struct PlotAxis {
    const char* title;
    const char* unit;
};

struct Plot {
    const char* title;  // also the ImGui name within the present scope
    PlotAxis across, up;
    PlotRange whole_across;
    std::optional<PlotRange> up_range = {};  // nullopt: fitted to the curves
    std::vector<PlotBand> bands = {};
    std::vector<PlotTrace> traces = {};
    std::vector<PlotLevel> levels = {};
    bool is_logarithmic = false;  // vertical axis; values of 0 or less are not drawn
};

// Visible part of the horizontal axis; nullopt: all of it.
struct PlotZoom {
    std::optional<PlotRange> across;
};

// Draws the plot in an area of `size` pixels and handles the mouse.
void draw_plot(const PanelContext& context, const Plot& plot, PlotZoom& zoom, ImVec2 size);

}  // namespace echolux
