// Sparse reconstruction by separable approximation (SpaRSA; S. J. Wright, R. D. Nowak, M. A. T. Figueiredo, IEEE Trans.
// Signal Process. 57, 2479 (2009); docs/algorithms.md 9): the least of |A x - y|^2 / 2 + tau * sum of amplitudes, by
// a set number of steps. Plain Barzilai-Borwein steps may run away, so that their curvature is bounded from below.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "compute/cpu/sensing.h"

namespace echolux {

class SparseSearch {
  public:
    SparseSearch(std::unique_ptr<Sensing> sensing, const CompressiveRecipe& recipe, std::int64_t samples,
                 std::int64_t modes);

    // The depth profile [modes] of the samples used; valid until the next call.
    const std::vector<std::complex<float>>& run(const float* samples);

    // After each iteration of the last run, with the tau of that iteration.
    const std::vector<double>& objectives() const { return objectives_; }

  private:
    struct Norms {
        double step = 0;   // |s|^2
        double seen = 0;   // |A s|^2
        double value = 0;  // of the objective afterwards
    };

    double tau_at(std::int64_t iteration) const;
    Norms tried(double curvature, double tau);
    bool is_accepted(const Norms& norms, double tau, double curvature) const;
    double value_with(double tau) const;

    std::unique_ptr<Sensing> sensing_;
    CompressiveRecipe recipe_;
    double tau_ = 0;          // of this A-scan
    double largest_tau_ = 0;  // from which on nothing is found
    std::vector<std::complex<float>> profile_, gradient_, next_, step_;
    std::vector<float> residual_, change_;
    std::vector<double> objectives_;
};

}  // namespace echolux
