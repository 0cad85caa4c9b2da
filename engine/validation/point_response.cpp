#include "engine/validation/point_response.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compute/calibrate/depth_peak.h"
#include "compute/cubic_spline.h"
#include "engine/validation/validation_run.h"

namespace echolux {
namespace {

// The last row that the profile falls to without rising, walking from `top`.
std::ptrdiff_t foot(std::span<const double> profile, std::ptrdiff_t top, std::ptrdiff_t step) {
    std::ptrdiff_t row = top;
    const auto value = [&](std::ptrdiff_t at) { return profile[static_cast<std::size_t>(at)]; };
    while (row + step >= 0 && row + step < std::ssize(profile) && value(row + step) < value(row)) row += step;
    return row;
}

// Between the places where the logarithm of the main lobe, interpolated by a spline, falls through half the height.
double width(std::span<const double> profile, std::ptrdiff_t first, std::ptrdiff_t last, double top, double height) {
    std::vector<double> row, level;
    for (std::ptrdiff_t i = first; i <= last; ++i) {
        const double value = profile[static_cast<std::size_t>(i)] / height;
        row.push_back(static_cast<double>(i));
        level.push_back(std::log(std::max(value, 1e-12)));
    }
    const CubicSpline at(row, level);
    const auto crossing = [&](double inside, double outside) {
        for (int step = 0; step < 50; ++step) {
            const double middle = (inside + outside) / 2;
            (at(middle) > -std::log(2.0) ? inside : outside) = middle;
        }
        return inside;
    };
    return crossing(top, row.back()) - crossing(top, row.front());
}

}  // namespace

PointResponse point_response(std::span<const double> profile, double padding, std::ptrdiff_t begin) {
    const DepthPeak peak = strongest_peak(profile, begin, std::ssize(profile));
    const std::ptrdiff_t top = std::llround(peak.bin);
    const std::ptrdiff_t first = std::max(begin, foot(profile, top, -1)), last = foot(profile, top, 1);
    PointResponse response{peak.bin / padding, peak.height, 0, 0};
    if (peak.height <= 0 || last - first < 4) return response;
    response.fwhm_bins = width(profile, first, last, peak.bin, peak.height) / padding;
    double greatest = 0;
    for (std::ptrdiff_t i = begin; i < std::ssize(profile); ++i) {
        if (i <= first || i >= last) greatest = std::max(greatest, profile[static_cast<std::size_t>(i)]);
    }
    response.side_lobe_db = decibels(greatest / peak.height);
    return response;
}

double worst_artefact_db(std::span<const double> profile, std::ptrdiff_t distance) {
    const std::ptrdiff_t top = std::ranges::max_element(profile) - profile.begin();
    double greatest = 0;
    for (std::ptrdiff_t i = 0; i < std::ssize(profile); ++i) {
        if (std::abs(i - top) > distance) greatest = std::max(greatest, profile[static_cast<std::size_t>(i)]);
    }
    return decibels(greatest / profile[static_cast<std::size_t>(top)]);
}

}  // namespace echolux
