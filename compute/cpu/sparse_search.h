// Sparse reconstruction by separable approximation (SpaRSA; S. J. Wright, R. D. Nowak, M. A. T. Figueiredo, IEEE Trans.
// Signal Process. 57, 2479 (2009); docs/transforms.md 9): the least of |A x - y|^2 / 2 + tau * sum of amplitudes, by
// a set number of steps. Plain Barzilai-Borwein steps may run away, so that their curvature is bounded from below.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "compute/cpu/sensing.h"
#include "compute/steps/sparse.h"

namespace echolux::cpu {

class SparseSearch {
  public:
    SparseSearch(std::unique_ptr<Sensing> sensing, const CompressiveRecipe& recipe, std::int64_t samples,
                 std::int64_t modes);

    // The depth profile [modes] of the samples used; valid until the next call.
    const std::vector<std::complex<float>>& run(const float* samples);

    // After each iteration of the last run, with the tau of that iteration.
    const std::vector<double>& objectives() const { return objectives_; }

    // Of one iteration of the last run.
    int max_tries() const { return max_tries_; }

  private:
    void begin();
    StepSums<double> tried();

    std::unique_ptr<Sensing> sensing_;
    CompressiveRecipe recipe_;
    SearchRules<double> rules_;
    std::vector<std::complex<float>> profile_, gradient_, next_, step_;
    std::vector<float> residual_, change_;
    std::vector<double> objectives_;
    int max_tries_ = 0;
};

}  // namespace echolux::cpu
