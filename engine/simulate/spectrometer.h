// Spectrometer of the simulated instrument: wavelength and source power of each sample, and the effects of dispersion
// and pixel width on a fringe (docs/algorithms.md 0 and 0.1). All values are double.
#pragma once

#include <vector>

#include "engine/simulate/simulator.h"

namespace echolux {

// All vectors have one value per sample.
struct Spectrometer {
    // Throws Error{bad_setting} if the wavelengths do not increase along the samples.
    explicit Spectrometer(const Simulation& simulation);

    double z_max_um() const { return pitch_um * static_cast<double>(k_per_um.size()) / 2; }  // in air
    double roll_off(double optical_um) const;  // fringe amplitude, relative to zero delay, from a depth in air

    std::vector<double> wavelengths_nm;
    std::vector<double> k_per_um;   // descending
    std::vector<double> source;     // power, 1 at the peak
    std::vector<double> theta_rad;  // dispersion of the sample arm
    double k0_per_um = 0;           // centre of the range of k
    double pitch_um = 0;            // size of a depth bin in air
    double coherence_um = 0;        // FWHM of the amplitude's point spread in air
    bool wide_pixels = false;
};

}  // namespace echolux
