// Plot of curves with grid, units and values at the pointer. The wheel zooms the horizontal axis, a drag pans it, a
// double click shows all of it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ui/panels/panel.h"

namespace echolux {

// ---- Positions of curve points and axis ticks. A curve is reduced to at most two points per pixel column, its minimum
// and maximum, so that narrow peaks stay visible.

struct PlotRange {
    double low = 0;
    double high = 1;

    double share(double value) const { return (value - low) / (high - low); }  // 0 at low, 1 at high
    double at(double share) const { return low + share * (high - low); }       // inverse of share()
};

// Values of a curve at x = first + i * step.
struct PlotCurve {
    std::span<const float> values;
    double first = 0;
    double step = 1;  // positive
};

struct PlotPoint {
    double column = 0;  // in pixels from the left
    double value = 0;
};

// Returns the points of the curve within `shown`, and one more on either side. Values that are not finite are omitted.
std::vector<PlotPoint> points_of(const PlotCurve& curve, const PlotRange& shown, double columns);

// Vertical span between two curves with the same x values, one per pixel column: from the minimum of `low` to the
// maximum of `high`.
struct PlotSpan {
    double column = 0;
    double low = 0;
    double high = 0;
};
std::vector<PlotSpan> spans_between(const PlotCurve& low, const PlotCurve& high, const PlotRange& shown,
                                    double columns);

// Returns about `about` round values within the range. Their step is 1, 2 or 5 times a power of ten.
std::vector<double> ticks(const PlotRange& range, std::int64_t about);

// Formats a tick with the decimals that distinguish neighbouring ticks.
std::string tick_text(double value, double step);

// Returns the smallest range with round ends that contains all finite values, or 0 to 1 if there are none.
PlotRange fitting_range(const std::vector<std::span<const float>>& curves);

// Scales `range` by `factor` (below 1 zooms in) around a relative position, and keeps it within `whole`.
PlotRange zoomed(const PlotRange& range, double factor, double around_share, const PlotRange& whole);
// Shifts `range` by `by` within `whole`.
PlotRange moved(const PlotRange& range, double by, const PlotRange& whole);

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
    const char* if_empty = "";    // instruction to the user
};

// Visible part of the horizontal axis; nullopt: all of it.
struct PlotZoom {
    std::optional<PlotRange> across;
};

// Draws the plot in an area of `size` pixels and handles the mouse.
void draw_plot(const PanelContext& context, const Plot& plot, PlotZoom& zoom, ImVec2 size);

// ---- Small curve of a figure over the last minute.

class RecentValues {
  public:
    // Adds a value, at most twice per second. Values older than a minute are removed.
    void add(double now_s, double value);

    double max() const;

    struct At {
        double time_s, value;
    };
    const std::deque<At>& values() const { return values_; }

  private:
    std::deque<At> values_;
};

// Draws "name   [curve]   value unit". `name` and `unit` are printed muted.
void sparkline(const PanelContext& context, const char* name, const RecentValues& recent, double now_s,
               const std::string& value, const char* unit);

}  // namespace echolux
