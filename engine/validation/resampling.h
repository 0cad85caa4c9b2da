// Resampling methods of a validation, and the response of each to a fringe.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/params.h"
#include "engine/validation/model_instrument.h"

namespace echolux {

// Resampling methods that a validation compares, and the closed-form response of each to a fringe (docs/algorithms.md
// 3.1).

inline constexpr std::array published_depths{0.05, 0.2, 0.4, 0.6, 0.7};  // relative to the depth range

// A resampling method and what is known about it.
struct ResamplingMethod {
    std::string name;
    Resample resample;
    std::int64_t upsample;
    double (*response)(double f);      // f in cycles per sample of the upsampled spectrum
    std::vector<double> artefacts_db;  // published, for a mirror at each of published_depths; may be empty

    // Returns the response to a fringe of `f` cycles per original sample.
    double left_of(double f) const { return response(f / static_cast<double>(upsample)); }
    // Sets the method in a recipe.
    void choose_in(Recipe& recipe) const;
};

// Returns all compared methods.
const std::vector<ResamplingMethod>& resampling_methods();

// Returns the methods of the axial response table: linear, Lagrange-3, spline, linear after upsampling by two, NUFFT,
// exact.
std::vector<ResamplingMethod> axial_methods();

// Computes the error of interpolation for a mirror at the true sample positions of an instrument, by explicit sums over
// the grid with the weights of each interpolation. The closed-form response (docs/algorithms.md 3.1) is a mean over all
// positions of a grid point between two samples. It does not apply where the k map is stationary relative to the
// samples, because then only few positions occur.

// Weights of the samples from `first` on, relative to the last sample before the position.
struct InterpolationWeights {
    std::int64_t first = 0;
    std::vector<double> weights;
};

// Returns the weights at 0 <= t < 1 beyond a sample. For methods that do not interpolate, only that sample has a
// weight.
InterpolationWeights interpolation_weights(Resample resample, double t);

// A fringe at `bin` under an envelope, interpolated onto a grid of `length` points.
class InterpolatedFringe {
  public:
    InterpolatedFringe(const ResamplingMethod& method, const Envelope& envelope, double bin, double length);

    // Returns |sum_j w_j sum_m M_m(t_j) exp(2 pi i (x_{j,m} - j) bin / length)| / sum_j w_j: the amplitude of the peak
    // relative to that of an exact transform. j are grid points, w the envelope there, and x the positions of the
    // samples that M weights.
    double level() const;

    // Returns the largest bin from `begin` on outside the main lobe, relative to the peak, in dB.
    double side_lobe_db(double main_lobe_bins, std::int64_t begin) const;

  private:
    std::complex<double> transformed(double bin) const;  // transform of the real fringe, times two

    double bin_, length_, first_ = 0, whole_ = 0;
    std::vector<std::complex<double>> on_grid_;  // values from grid point `first_` on
};

}  // namespace echolux
