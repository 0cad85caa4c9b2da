#include "engine/simulate/spectrometer.h"

#include <cmath>
#include <numbers>

#include "compute/error.h"

namespace echolux {
namespace {

using std::numbers::pi;

// Returns the wavelength of each sample: a cubic polynomial over the samples.
std::vector<double> wavelength_map(const Simulation& s) {
    std::vector<double> wavelengths;
    for (std::int64_t p = 0; p < s.samples; ++p) {
        const double u = 2 * static_cast<double>(p) / static_cast<double>(s.samples - 1) - 1;
        wavelengths.push_back(s.centre_nm + s.span_nm / 2 * u + s.curve2_nm * (u * u - 1) +
                              s.curve3_nm * (u * u * u - u));
        const bool grows = p == 0 || wavelengths.back() > wavelengths[wavelengths.size() - 2];
        if (!grows || wavelengths.back() <= 0) {
            throw Error(ErrorCode::bad_setting, "the wavelengths must be positive and grow along the samples",
                        "simulation.span_nm", "choose a smaller curve2_nm and curve3_nm, or another span_nm");
        }
    }
    return wavelengths;
}

}  // namespace

Spectrometer::Spectrometer(const Simulation& s) : wavelengths_nm(wavelength_map(s)), wide_pixels(s.roll_off) {
    const double k_greatest = 2000 * pi / wavelengths_nm.front();
    const double k_min = 2000 * pi / wavelengths_nm.back();
    k0_per_um = (k_greatest + k_min) / 2;
    const double step = (k_greatest - k_min) / static_cast<double>(s.samples - 1);
    pitch_um = pi / (static_cast<double>(s.samples) * step);

    const double centre = 2000 * pi / s.centre_nm;
    const double width = centre * s.bandwidth_nm / s.centre_nm;
    coherence_um = 4 * std::numbers::ln2 / width;
    for (const double wavelength : wavelengths_nm) {
        const double k = 2000 * pi / wavelength;
        const double off_centre = (k - centre) / width;
        const double edge = (k - k0_per_um) / ((k_greatest - k_min) / 2);
        k_per_um.push_back(k);
        source.push_back(std::exp(-4 * std::numbers::ln2 * off_centre * off_centre));
        theta_rad.push_back(s.a2_rad * edge * edge + s.a3_rad * edge * edge * edge);
    }
}

double Spectrometer::roll_off(double optical_um) const {
    const double x = pi * optical_um / (2 * z_max_um());
    return !wide_pixels || x == 0 ? 1 : std::sin(x) / x;
}

}  // namespace echolux
