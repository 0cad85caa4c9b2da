// What plots are put together from: panels of curves, their axes and colours, and the page they go to.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "app/figure/figure_page.h"
#include "compute/plan/describe.h"

namespace echolux {

// Of M. Okabe and K. Ito: told apart by all eyes, and in gray by their order.
inline constexpr Colour blue{0.00, 0.45, 0.70}, vermilion{0.84, 0.37, 0.00}, green{0.00, 0.62, 0.45},
    gray{0.55, 0.55, 0.55};

// Of all numbers, with a margin of a twentieth on either side.
ValueRange range_with_margin(std::span<const double> values);

FigureAxis axis_across(const std::string& label, const std::string& unit, const ValueRange& range);
FigureAxis axis_upwards(const std::string& label, const std::string& unit, const ValueRange& range);

FigurePanel curve_panel(FigureAxis across, FigureAxis upwards, double aspect, const std::string& heading = {});

// 0, step, 2 step, ...
std::vector<double> evenly(std::size_t count, double step);

// 20 log10 relative to `reference`, not below -200 dB.
std::vector<double> decibels_of(const std::vector<double>& amplitude, double reference);

// Throws what write_figure() throws.
void write_plot(const std::filesystem::path& path, const std::vector<FigureRow>& rows);

// Before work begins; an empty name is no plot. Throws what check_figure_name() throws, also where the program was
// built without figures.
void check_plot_name(const std::filesystem::path& path);

}  // namespace echolux
