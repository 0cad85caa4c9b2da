// Dispersion-encoded full range (docs/transforms.md 8; B. Hofer et al., Opt. Express 17, 7 (2009) and 18, 4898 (2010)).
// A real spectrum shows each reflector on both sides of zero delay, but after dispersion compensation only the true
// image is sharp. The method repeatedly finds the sharp images and subtracts their blurred mirror images.
#pragma once

#include <complex>
#include <vector>

#include "compute/plan/params.h"

namespace echolux {

// Tables of one plan, on the uniform k grid.
struct DefrTables {
    std::vector<double> window;                  // [points], window or shaping, real
    std::vector<std::complex<double>> rotation;  // [points], exp(i theta)
    double gamma = 0;      // max amplitude of the mirror image relative to its peak; 1 without dispersion
    double threshold = 0;  // min amplitude of detected peaks, relative to the strongest
};

// Gamma above which mirror images are hardly suppressed.
inline constexpr double weak_diversity = 0.6;

// Builds the tables of a spec with valid geometry and calibration.
DefrTables defr_tables(const ReconstructionSpec& spec);

}  // namespace echolux
