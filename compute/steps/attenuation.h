// Attenuation of light from one depth to the next (docs/angiography.md): what a voxel scatters back, over what all
// below it does, where everywhere the same share of the lost light comes back (K. A. Vermeer et al., Biomed. Opt.
// Express 5(1), 2014).
#pragma once

#include <cmath>

#include "compute/host_device.h"

namespace echolux {

// Per unit of `row`, of light that comes there and back; `below`: the sum of all deeper intensities. Exact for voxels
// of any thickness, where the usual intensity / (2 row below) is not.
struct Attenuation {
    double row = 1;

    ECHOLUX_HD double operator()(double intensity, double below) const {
        return intensity > 0 && below > 0 ? std::log1p(intensity / below) / (2 * row) : 0;
    }
};

// Sum of the intensities below some last rows of this sum, had the tissue no end: what falls by `loss` from these rows
// to as many more.
ECHOLUX_HD inline double sum_below(double of_last_rows, double loss) {
    return of_last_rows / std::expm1(loss);
}

}  // namespace echolux
