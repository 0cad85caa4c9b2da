// What interpolation leaves of a mirror's peak where the samples of an instrument truly lie: sums over the grid with
// the weights of every interpolation written out. The response in closed form (docs/algorithms.md 3.1) is the mean over
// all places of a grid point between two samples; where a k map stands still against the samples, few occur.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "compute/plan/params.h"
#include "engine/validation/model_instrument.h"
#include "engine/validation/resampling_methods.h"

namespace echolux {

// Of the samples from `first` on, counted from the last one before the place.
struct InterpolationWeights {
    std::int64_t first = 0;
    std::vector<double> weights;
};

// At 0 <= t < 1 beyond a sample. Of a method that does not interpolate: that sample alone.
InterpolationWeights interpolation_weights(Resample resample, double t);

// A fringe of `bin` under an envelope, as interpolation brings it onto the grid of `length` points.
class InterpolatedFringe {
  public:
    InterpolatedFringe(const ResamplingMethod& method, const Envelope& envelope, double bin, double length);

    // |sum_j w_j sum_m M_m(t_j) exp(2 pi i (x_{j,m} - j) bin / length)| / sum_j w_j: amplitude of the peak, as a part
    // of what the exact transform gives. j: points of the grid, w: the envelope there, x: where the samples lie that M
    // weighs.
    double level() const;

    // The greatest bin from `begin` on, farther than the main lobe from the peak, below the peak.
    double side_lobe_db(double main_lobe_bins, std::int64_t begin) const;

  private:
    std::complex<double> transformed(double bin) const;  // of the real fringe, twice

    double bin_, length_, first_ = 0, whole_ = 0;
    std::vector<std::complex<double>> on_grid_;  // from the point `first_` on
};

}  // namespace echolux
