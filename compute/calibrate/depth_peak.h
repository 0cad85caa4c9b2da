// The strongest peak of a depth profile, finer than its bins.
#pragma once

#include <cstdint>
#include <span>

namespace echolux {

// Of the profiles in which mirrors are read.
inline constexpr std::int64_t points_per_bin = 4;

struct DepthPeak {
    double bin = 0;     // top of a parabola through the logarithm of the three highest bins
    double height = 0;  // of that parabola
    double fwhm = 0;    // bins between the places where the profile crosses half of it; 0: it does not on both sides
};

// Of profile[begin, end), values >= 0. Where all are zero, or the range is empty, the peak is at `begin` and has no
// height.
DepthPeak strongest_peak(std::span<const double> profile, std::int64_t begin, std::int64_t end);

}  // namespace echolux
