// The instrument of docs/algorithms.md 0.1 in closed form: 2048 pixels, 845 nm, 105 nm FWHM over a span of 190 nm, with
// wavelengths not quite linear in pixels. Spectra are sums of cosines, without transforms or interpolation.
#pragma once

#include <vector>

namespace echolux {

struct ClosedFormInstrument {
    static constexpr int samples = 2048;

    ClosedFormInstrument();

    std::vector<double> wavelengths_nm;  // by pixel, ascending
    std::vector<double> pixel_k;         // rad/um by pixel, descending
    std::vector<double> uniform_k;       // uniform grid, ascending
    std::vector<double> positions;       // pixel of each grid point
    std::vector<double> kappa;           // (k - 2 pi / 845 nm) / half of the band, by grid point
    double depth_limit_um = 0;           // z_max

    double source(double k) const;         // Gaussian, peak 1
    double bin_of(double depth_um) const;  // for a transform of `samples` points
    // Returns source(k) cos(2 k z + theta) for every k. theta[i] belongs to k[i]; empty means 0.
    std::vector<float> fringe(const std::vector<double>& k, double depth_um,
                              const std::vector<double>& theta = {}) const;
};

}  // namespace echolux
