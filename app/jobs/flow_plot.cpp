#include "app/jobs/flow_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/figure/plot_panels.h"
#include "compute/plan/describe.h"

namespace echolux {
namespace {

using Look = FigureCurve::Look;

ValueRange from_zero(const std::vector<double>& values) {
    ValueRange range = range_with_margin(values);
    range.low = std::min(range.low, 0.0);
    range.high = std::max(1.3 * range.high, 0.0);  // room for the legend above
    return range;
}

FigureCurve beat_of(const MeasuredFlow& measured, const ValueRange& time) {
    constexpr int points = 400;
    FigureCurve curve{fmt::format("{:.3g} Hz, {:.0f} per minute", measured.heart.hz, 60 * measured.heart.hz),
                      {},
                      {},
                      vermilion,
                      Look::line};
    for (int k = 0; k <= points; ++k) {
        curve.x.push_back(time.low + (time.high - time.low) * k / points);
        curve.y.push_back(measured.heart.at(curve.x.back()));
    }
    return curve;
}

FigurePanel over_time(const MeasuredFlow& measured) {
    std::vector<double> times, flow;
    for (const FlowRow& row : measured.rows) {
        if (!std::isfinite(row.time_s) || !std::isfinite(row.value.flow_ul_s)) continue;
        times.push_back(row.time_s);
        flow.push_back(row.value.flow_ul_s);
    }
    const ValueRange range = range_with_margin(times);
    FigurePanel panel = curve_panel(axis_across("Time", "s", range), axis_upwards("Flow", "µl/s", from_zero(flow)), 2.4,
                                    "Through the section");
    panel.curves.push_back({measured.volumes == std::ssize(measured.rows) ? "each volume" : "each B-scan", times, flow,
                            blue, Look::spots});
    if (measured.heart.is_found()) panel.curves.push_back(beat_of(measured, range));
    return panel;
}

FigurePanel over_place(const MeasuredFlow& measured) {
    std::vector<double> places, flow;
    for (const FlowValue& value : measured.along) {
        if (!std::isfinite(value.flow_ul_s)) continue;
        places.push_back(value.place_um);
        flow.push_back(value.flow_ul_s);
    }
    const ValueRange range = range_with_margin(places);
    FigurePanel panel = curve_panel(axis_across("Along the vessel", "µm", range),
                                    axis_upwards("Flow", "µl/s", from_zero(flow)), 2.4, "Mean over time");
    panel.curves.push_back({"each plane", places, flow, blue, Look::spots});
    const double mean = measured.flow_ul_s;
    panel.curves.push_back({fmt::format("{:.3g} ± {:.2g} µl/s", mean, measured.error_ul_s),
                            {range.low, range.high},
                            {mean, mean},
                            vermilion,
                            Look::dashed});
    return panel;
}

}  // namespace

void plot_flow(const std::filesystem::path& path, const MeasuredFlow& measured) {
    std::vector<FigureRow> rows;
    const bool has_time = measured.rows.size() > 1 && std::isfinite(measured.rows.back().time_s);
    if (has_time) rows.push_back({over_time(measured)});
    rows.push_back({over_place(measured)});
    write_plot(path, rows);
}

}  // namespace echolux
