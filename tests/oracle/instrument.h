// The instrument of docs/algorithms.md 0.1, in closed form: 2048 pixels, 845 nm, 105 nm FWHM over a span of 190 nm,
// wavelengths not quite linear in pixels. Spectra are sums of cosines: no transform, no interpolation.
#pragma once

#include <vector>

namespace echolux {

struct ClosedFormInstrument {
    static constexpr int samples = 2048;

    ClosedFormInstrument();

    std::vector<double> wavelengths_nm;  // of the pixels, ascending
    std::vector<double> pixel_k;         // rad/um of the pixels, descending
    std::vector<double> uniform_k;       // the uniform grid, ascending
    std::vector<double> positions;       // pixel of each point of the uniform grid
    std::vector<double> kappa;           // (k - 2 pi / 845 nm) / half the band, of each point of the uniform grid
    double depth_limit_um = 0;           // z_max

    double source(double k) const;         // Gaussian, peak 1
    double bin_of(double depth_um) const;  // of a transform of `samples` points
    // source(k) cos(2 k z + theta) at every k; theta[i] belongs to k[i], none: 0.
    std::vector<float> fringe(const std::vector<double>& k, double depth_um,
                              const std::vector<double>& theta = {}) const;
};

}  // namespace echolux
