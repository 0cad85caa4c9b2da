// The strongest peak of a depth profile, with sub-bin precision.
#pragma once

#include <cstdint>
#include <span>

namespace echolux {

// Resolution of the profiles in which mirrors are measured.
inline constexpr std::int64_t points_per_bin = 4;

// A peak of a depth profile. Positions and widths are in points of the profile.
struct DepthPeak {
    double bin = 0;     // vertex of a parabola through the logarithm of the three highest bins
    double height = 0;  // at the vertex
    double fwhm = 0;    // width at half height in bins; 0 if the profile does not cross it on both sides
};

// Returns the peak of profile[begin, end), values >= 0. If all are zero or the range is empty, the peak is at `begin`
// with height 0.
DepthPeak strongest_peak(std::span<const double> profile, std::int64_t begin, std::int64_t end);

}  // namespace echolux
