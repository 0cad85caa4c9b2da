#include "app/figure/plot_panels.h"

#include <algorithm>
#include <cmath>

#include "app/figure/figure_format.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/build.h"

namespace echolux {

ValueRange range_with_margin(std::span<const double> values) {
    if (values.empty()) return {};
    const auto [least, greatest] = std::ranges::minmax(values);
    const double margin = greatest > least ? 0.05 * (greatest - least) : 1;
    return {least - margin, greatest + margin};
}

FigureAxis axis_across(const std::string& label, const std::string& unit, const ValueRange& range) {
    return {label, unit, range.low, range.high};
}

FigureAxis axis_upwards(const std::string& label, const std::string& unit, const ValueRange& range) {
    return {label, unit, range.high, range.low};
}

FigurePanel curve_panel(FigureAxis across, FigureAxis upwards, double aspect, const std::string& heading) {
    FigurePanel panel;
    panel.aspect = aspect;
    panel.across = std::move(across);
    panel.downwards = std::move(upwards);
    panel.heading = heading;
    return panel;
}

std::vector<double> evenly(std::size_t count, double step) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = step * static_cast<double>(i);
    return values;
}

std::vector<double> decibels_of(const std::vector<double>& amplitude, double reference) {
    std::vector<double> levels;
    for (const double a : amplitude) levels.push_back(20 * std::log10(std::max(a / reference, 1e-10)));
    return levels;
}

void check_plot_name(const std::filesystem::path& path) {
    if (path.empty()) return;
    if (figure_format_of(path) == FigureFormat::none) {
        throw Error(ErrorCode::bad_setting, "plots are PDF, SVG or PNG files", path.string(),
                    "name it *.pdf, *.svg or *.png");
    }
    check_figure_name(path);
}

void write_plot(const std::filesystem::path& path, const std::vector<FigureRow>& rows) {
    FigureStyle style;
    style.dpi = 200;
    write_figure(path, rows, style, {{text_program, version}});
}

}  // namespace echolux
