// Sparse reconstruction by separable approximation (SpaRSA; S. J. Wright, R. D. Nowak, M. A. T. Figueiredo, IEEE Trans.
// Signal Process. 57, 2479 (2009); docs/algorithms.md 9). Minimizes |A x - y|^2 / 2 + tau * sum of amplitudes in a
// fixed number of steps. Plain Barzilai-Borwein steps may diverge, so their curvature is bounded from below.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "compute/cpu/sensing.h"
#include "compute/steps/sparse.h"

namespace echolux::cpu {

// Searches one A-scan at a time. Owns the sensing operator and the buffers of one thread.
class SparseSearch {
  public:
    SparseSearch(std::unique_ptr<Sensing> sensing, const CompressiveRecipe& recipe, std::int64_t samples,
                 std::int64_t modes);

    // Returns the depth profile [modes] of the used samples. Valid until the next call.
    const std::vector<std::complex<float>>& run(const float* samples);

    // Returns the objective after each iteration of the last run, with the tau of that iteration.
    const std::vector<double>& objectives() const { return objectives_; }

    // Returns the max number of trials of an iteration in the last run.
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
