// What a mirror becomes: place, height, width and side lobes of the peak in a depth profile.
#pragma once

#include <span>

namespace echolux {

struct PointResponse {
    double bin = 0;           // without zero padding
    double height = 0;        //
    double fwhm_bins = 0;     // of the amplitude
    double side_lobe_db = 0;  // the greatest value beyond the main lobe, below the peak
};

// Of amplitudes from `begin` on, `padding` rows a bin. The main lobe reaches `main_lobe_bins` to either side: where
// what is expected of a mirror ends it (Envelope), so that all methods are measured alike.
PointResponse point_response(std::span<const double> profile, double padding, double main_lobe_bins,
                             std::ptrdiff_t begin = 0);

// The greatest value farther than `distance` rows from the highest, below that, in dB.
double worst_artefact_db(std::span<const double> profile, std::ptrdiff_t distance);

}  // namespace echolux
