// Dispersion-encoded full range on the CPU: one A-scan at a time, all of it in the first caches.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "compute/cpu/k_linear.h"
#include "compute/cpu/line_method.h"
#include "compute/fft/fft.h"
#include "compute/methods/defr.h"

namespace echolux::cpu {

// The search for the true images of a real spectrum, in a precision.
template <class Real>
class FullRangeSearch {
  public:
    FullRangeSearch(const DefrTables& tables, const DefrRecipe& recipe);

    Real* spectrum() { return spectrum_.data(); }  // [points], to be filled in; what is left of it afterwards

    // The complex depth profile [points] in the order of the transform: bins 0 .. M/2 - 1 lie behind zero delay, the
    // others before it. Unnormalised, as every method's.
    const std::complex<Real>* run();

  private:
    void to_depth();
    bool find_peaks();
    void take_away();

    DefrRecipe recipe_;
    Real threshold_;
    std::vector<std::complex<Real>> rotation_;
    std::vector<Real> spectrum_;
    std::vector<std::complex<Real>> found_;
    BasicFft<Real> forward_;   // to depth: its output is what is not yet found
    BasicFft<Real> backward_;  // from depth: its input are the peaks of this iteration
};

class DefrLine : public LineMethod {
  public:
    // Bins from `first_bin` on are kept, counted from the far end before zero delay.
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
    std::unique_ptr<FullRangeSearch<float>> single_;  // one of the two
    std::unique_ptr<FullRangeSearch<double>> double_;
    std::vector<std::complex<float>> bins_;  // kept
    const std::complex<float>* bins_of_line_;
};

}  // namespace echolux::cpu
