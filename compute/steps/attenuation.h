// Attenuation of light per depth step (docs/angiography.md): the intensity that a voxel scatters back, divided by the
// sum of all deeper intensities. Assumes that the same fraction of the lost light is backscattered everywhere (K. A.
// Vermeer et al., Biomed. Opt. Express 5(1), 2014).
#pragma once

#include <cmath>

#include "compute/host_device.h"

namespace echolux {

// Returns the attenuation per unit of `row`, corrected for the double pass. `below` is the sum of all deeper
// intensities. Exact for voxels of any thickness, unlike the common approximation intensity / (2 row below).
struct Attenuation {
    double row = 1;

    ECHOLUX_HD double operator()(double intensity, double below) const {
        return intensity > 0 && below > 0 ? std::log1p(intensity / below) / (2 * row) : 0;
    }
};

// Returns the sum of the intensities below the last rows of an A-scan as if the tissue continued forever: a geometric
// series that falls by `loss` (natural log) from these rows to the next group of as many rows.
ECHOLUX_HD inline double sum_below(double of_last_rows, double loss) {
    return of_last_rows / std::expm1(loss);
}

}  // namespace echolux
