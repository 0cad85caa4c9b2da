// Dispersion-encoded full range on the CPU, one A-scan at a time so that all data stays in the L1 and L2 caches.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "compute/cpu/k_linear.h"
#include "compute/cpu/line_method.h"
#include "compute/fft/fft.h"
#include "compute/methods/defr.h"

namespace echolux::cpu {

// Searches the true images of a real spectrum, in single or double precision.
template <class Real>
class FullRangeSearch {
  public:
    FullRangeSearch(const DefrTables& tables, const DefrRecipe& recipe);

    Real* spectrum() { return spectrum_.data(); }  // [points], the input; holds the residual afterwards

    // Returns the complex depth profile [points] in transform order: bins 0 .. M/2 - 1 are behind zero delay, the
    // others before it. Unnormalized, like all methods.
    const std::complex<Real>* run();

  private:
    // Transforms the residual spectrum to depth, with dispersion compensation.
    void to_depth();
    bool find_peaks();
    // Subtracts the contribution of the detected peaks, including their mirror images, from the spectrum.
    void take_away();

    DefrRecipe recipe_;
    Real threshold_;
    std::vector<std::complex<Real>> rotation_;
    std::vector<Real> spectrum_;
    std::vector<std::complex<Real>> found_;
    BasicFft<Real> forward_;   // to depth; its output is the residual
    BasicFft<Real> backward_;  // from depth; its input holds the peaks of this iteration
};

// Reconstructs lines one at a time. The tables must outlive it.
class DefrLine : public LineMethod {
  public:
    // Keeps bins from `kept.begin` on, counted from the far end before zero delay.
    DefrLine(const PlainTables& plain, const DefrTables& tables, const DefrRecipe& recipe, const LineFormat& format,
             DepthRange kept);
    ~DefrLine() override;

    std::int64_t lines_at_once() const override { return 1; }
    std::span<const std::complex<float>* const> reconstruct(std::span<const RawLine> lines) override;

  private:
    template <class Real>
    void search(FullRangeSearch<Real>& search, const float* points);

    const DefrTables& tables_;
    KLinearLine k_linear_;
    DepthRange kept_;
    std::unique_ptr<FullRangeSearch<float>> single_;  // one of these two is used
    std::unique_ptr<FullRangeSearch<double>> double_;
    std::vector<std::complex<float>> bins_;  // kept depth only
    const std::complex<float>* bins_of_line_;
};

}  // namespace echolux::cpu
