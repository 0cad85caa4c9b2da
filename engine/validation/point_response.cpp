#include "engine/validation/point_response.h"

#include <algorithm>
#include <cmath>

#include "compute/calibrate/roll_off.h"
#include "engine/validation/validation_run.h"

namespace echolux {
PointResponse point_response(std::span<const double> profile, double padding, double main_lobe_bins,
                             std::ptrdiff_t begin) {
    const DepthPeak peak = strongest_peak(profile, begin, std::ssize(profile));
    PointResponse response{peak.bin / padding, peak.height, peak.fwhm / padding, 0};
    double max = 0;
    for (std::ptrdiff_t i = begin; i < std::ssize(profile); ++i) {
        const double distance_bins = std::abs(static_cast<double>(i) - peak.bin) / padding;
        if (distance_bins >= main_lobe_bins) max = std::max(max, profile[static_cast<std::size_t>(i)]);
    }
    response.side_lobe_db = decibels(max / peak.height);
    return response;
}

double worst_artefact_db(std::span<const double> profile, std::ptrdiff_t distance) {
    const std::ptrdiff_t top = std::ranges::max_element(profile) - profile.begin();
    double max = 0;
    for (std::ptrdiff_t i = 0; i < std::ssize(profile); ++i) {
        if (std::abs(i - top) > distance) max = std::max(max, profile[static_cast<std::size_t>(i)]);
    }
    return decibels(max / profile[static_cast<std::size_t>(top)]);
}

}  // namespace echolux
