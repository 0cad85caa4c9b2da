// Position, height and width of the strongest peak of a depth profile, finer than its bins.
#pragma once

#include <cstddef>
#include <span>

namespace echolux {

struct Peak {
    double bin = 0;     // of a parabola through the logarithm of the three highest bins
    double height = 0;  // of that parabola
    double fwhm = 0;    // bins
};

// The highest value of profile[begin, end) and the peak around it. The values are positive.
Peak peak_of(std::span<const double> profile, std::size_t begin, std::size_t end);
Peak peak_of(std::span<const double> profile);

// The greatest value farther than `distance` bins from `bin`.
double greatest_outside(std::span<const double> profile, double bin, double distance);

// 20 log10.
double decibels(double amplitude_ratio);

}  // namespace echolux
