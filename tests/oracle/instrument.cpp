#include "tests/oracle/instrument.h"

#include <cmath>
#include <numbers>

namespace echolux {
namespace {

using std::numbers::pi;

constexpr double centre_nm = 845, width_nm = 105, span_nm = 190;

double wavelength_at(double u) {
    return centre_nm + span_nm / 2 * u + 2.5 * (u * u - 1) - 0.8 * (u * u * u - u);
}

// Returns the u in -1..1 with wavelength_at(u) = nm.
double inverse_wavelength(double nm) {
    double low = -1, high = 1;
    for (int step = 0; step < 60; ++step) {
        const double middle = (low + high) / 2;
        (wavelength_at(middle) < nm ? low : high) = middle;
    }
    return (low + high) / 2;
}

double k_of(double nm) {
    return 2000 * pi / nm;
}

}  // namespace

ClosedFormInstrument::ClosedFormInstrument() {
    const double last = samples - 1;
    for (int p = 0; p < samples; ++p) {
        wavelengths_nm.push_back(wavelength_at(2 * p / last - 1));
        pixel_k.push_back(k_of(wavelengths_nm.back()));
    }
    const double k_min = pixel_k.back(), k_max = pixel_k.front();
    for (int j = 0; j < samples; ++j) {
        uniform_k.push_back(k_min + (k_max - k_min) * j / last);
        positions.push_back((inverse_wavelength(k_of(uniform_k.back())) + 1) / 2 * last);
        kappa.push_back((uniform_k.back() - k_of(centre_nm)) / ((k_max - k_min) / 2));
    }
    depth_limit_um = pi / 2 / (uniform_k[1] - uniform_k[0]);
}

double ClosedFormInstrument::source(double k) const {
    const double fwhm = 2000 * pi * width_nm / (centre_nm * centre_nm);
    const double x = (k - k_of(centre_nm)) / fwhm;
    return std::exp(-4 * std::numbers::ln2 * x * x);
}

double ClosedFormInstrument::bin_of(double depth_um) const {
    return depth_um * samples * (uniform_k[1] - uniform_k[0]) / pi;
}

std::vector<float> ClosedFormInstrument::fringe(const std::vector<double>& k, double depth_um,
                                                const std::vector<double>& theta) const {
    std::vector<float> line;
    for (std::size_t i = 0; i < k.size(); ++i) {
        const double phase = 2 * k[i] * depth_um + (theta.empty() ? 0 : theta[i]);
        line.push_back(static_cast<float>(source(k[i]) * std::cos(phase)));
    }
    return line;
}

}  // namespace echolux
