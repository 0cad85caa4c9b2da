// Subbin position, height and width of the strongest peak of a depth profile.
#pragma once

#include <cstddef>
#include <span>

namespace echolux {

struct Peak {
    double bin = 0;     // of a parabola through the logarithms of the three highest bins
    double height = 0;  // of that parabola
    double fwhm = 0;    // in bins
};

// Finds the highest value of profile[begin, end) and the peak around it. Values must be positive.
Peak peak_of(std::span<const double> profile, std::size_t begin, std::size_t end);
Peak peak_of(std::span<const double> profile);

// Largest value more than `distance` bins away from `bin`.
double greatest_outside(std::span<const double> profile, double bin, double distance);

// Returns 20 log10.
double decibels(double amplitude_ratio);

}  // namespace echolux
