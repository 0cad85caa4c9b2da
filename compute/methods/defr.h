// Dispersion-encoded full range (docs/transforms.md 8; B. Hofer et al., Opt. Express 17, 7 (2009) and 18, 4898 (2010)):
// a real spectrum shows each reflector on both sides of zero delay, but only one of the two is sharp once the
// dispersion is compensated for. The sharp ones are found and their false images taken away, again and again.
#pragma once

#include <complex>
#include <vector>

#include "compute/plan/params.h"

namespace echolux {

struct DefrTables {
    std::vector<double> window;                  // [points], or shaping: real
    std::vector<std::complex<double>> rotation;  // [points], exp(i theta)
    double gamma = 0;  // how high the false image of a peak can be, as a part of the peak; 1: there is no dispersion
    double threshold = 0;  // of amplitudes that are found, as a part of the strongest
};

// Above this, false images hardly go away.
inline constexpr double weak_diversity = 0.6;

// The spec's geometry and calibration are valid.
DefrTables defr_tables(const ReconstructionSpec& spec);

}  // namespace echolux
