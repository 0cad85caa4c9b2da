// Building blocks of plots: panels of curves, their axes and colours, and the page.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "app/figure/figure_page.h"
#include "compute/plan/describe.h"

namespace echolux {

// M. Okabe and K. Ito: distinguishable with colour blindness, and by brightness in grey.
inline constexpr Colour blue{0.00, 0.45, 0.70}, vermilion{0.84, 0.37, 0.00}, green{0.00, 0.62, 0.45},
    gray{0.55, 0.55, 0.55};

// Range of all numbers with a margin of 5 % on both sides.
ValueRange range_with_margin(std::span<const double> values);

FigureAxis axis_across(const std::string& label, const std::string& unit, const ValueRange& range);
FigureAxis axis_upwards(const std::string& label, const std::string& unit, const ValueRange& range);

FigurePanel curve_panel(FigureAxis across, FigureAxis upwards, double aspect, const std::string& heading = {});

// Returns 0, step, 2 step, ...
std::vector<double> evenly(std::size_t count, double step);

// Computes 20 log10 relative to `reference`, clamped to -200 dB.
std::vector<double> decibels_of(const std::vector<double>& amplitude, double reference);

// Throws what write_figure() throws.
void write_plot(const std::filesystem::path& path, const std::vector<FigureRow>& rows);

// Call before the work; an empty name means no plot. Throws what check_figure_name() throws, and if this build has no
// figures.
void check_plot_name(const std::filesystem::path& path);

}  // namespace echolux
