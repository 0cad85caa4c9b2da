// Measures the peak of a mirror in a depth profile: position, height, width and side lobes.
#pragma once

#include <span>

namespace echolux {

struct PointResponse {
    double bin = 0;           // position, without zero padding
    double height = 0;        // amplitude of the peak
    double fwhm_bins = 0;     // width of the amplitude
    double side_lobe_db = 0;  // largest value outside the main lobe, relative to the peak
};

// Measures amplitudes from `begin` on, with `padding` rows per bin. The main lobe extends `main_lobe_bins` to either
// side, as expected for a mirror (Envelope), so that all methods are measured in the same way.
PointResponse point_response(std::span<const double> profile, double padding, double main_lobe_bins,
                             std::ptrdiff_t begin = 0);

// Returns the largest value more than `distance` rows from the highest, relative to it, in dB.
double worst_artefact_db(std::span<const double> profile, std::ptrdiff_t distance);

}  // namespace echolux
