#include "tests/oracle/peak.h"

#include <algorithm>
#include <cmath>

#include "compute/indexing.h"

namespace echolux {
namespace {

// Cubic through the logarithms of the four bins around `at`.
double log_value(std::span<const double> profile, double at) {
    const auto last = static_cast<double>(profile.size()) - 3;
    const double base = std::clamp(std::floor(at), 1.0, last);
    double value = 0;
    for (int m = -1; m <= 2; ++m) {
        double weight = 1;
        for (int n = -1; n <= 2; ++n) {
            if (n != m) weight *= (at - base - n) / (m - n);
        }
        value += weight * std::log(profile[static_cast<std::size_t>(base + m)]);
    }
    return value;
}

// Returns the position at which the profile falls through `level`, searching from `top` in `direction`.
double crossing(std::span<const double> profile, double top, double level, double direction) {
    double inside = top;
    while (inside + direction > 1 && inside + direction < static_cast<double>(profile.size()) - 2 &&
           log_value(profile, inside + direction) > level) {
        inside += direction;
    }
    double outside = inside + direction;
    for (int step = 0; step < 60; ++step) {
        const double middle = (inside + outside) / 2;
        (log_value(profile, middle) > level ? inside : outside) = middle;
    }
    return inside;
}

}  // namespace

Peak peak_of(std::span<const double> profile, std::size_t begin, std::size_t end) {
    const auto first = profile.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto top = std::max_element(first, profile.begin() + static_cast<std::ptrdiff_t>(end)) - profile.begin();
    const auto i = std::clamp<std::size_t>(index(top), 1, profile.size() - 2);
    const double left = std::log(profile[i - 1]), middle = std::log(profile[i]), right = std::log(profile[i + 1]);
    const double offset = 0.5 * (left - right) / (left - 2 * middle + right);
    Peak peak{.bin = static_cast<double>(i) + offset, .height = std::exp(middle - 0.25 * (left - right) * offset)};
    const double half = std::log(peak.height / 2);
    peak.fwhm = crossing(profile, peak.bin, half, 0.25) - crossing(profile, peak.bin, half, -0.25);
    return peak;
}

Peak peak_of(std::span<const double> profile) {
    return peak_of(profile, 0, profile.size());
}

double greatest_outside(std::span<const double> profile, double bin, double distance) {
    double greatest = 0;
    for (std::size_t i = 0; i < profile.size(); ++i) {
        if (std::abs(static_cast<double>(i) - bin) > distance) greatest = std::max(greatest, profile[i]);
    }
    return greatest;
}

double decibels(double amplitude_ratio) {
    return 20 * std::log10(amplitude_ratio);
}

}  // namespace echolux
