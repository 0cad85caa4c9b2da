// The two iterative methods on the CPU: compressive sensing (compute/methods/compressive.h) and dispersion-encoded full
// range (compute/methods/defr.h). Both process one A-scan at a time so that all data stays in the L1 and L2 caches.
#pragma once

#include <complex>
#include <memory>
#include <optional>
#include <vector>

#include "compute/cpu/k_linear.h"
#include "compute/cpu/line_method.h"
#include "compute/fft/fft.h"
#include "compute/methods/compressive.h"
#include "compute/methods/defr.h"
#include "compute/steps/sparse.h"

namespace echolux::cpu {

// ---- compressive sensing --------------------------------------------------------------------------------------------

// Maps depth profiles to the samples that a spec uses, and back: the matrix A of compressive sensing and its adjoint,
// scaled as in methods/compressive.h. `profile` has [modes], `samples` [sensed] elements.
class Sensing {
  public:
    virtual ~Sensing() = default;

    virtual void to_samples(const std::complex<float>* profile, float* samples) = 0;
    virtual void to_depth(const float* samples, std::complex<float>* profile) = 0;
};

// The explicit matrix of an exact transform, shared by all threads.
struct SensingMatrix {
    explicit SensingMatrix(const SensingTables& tables);

    std::int64_t modes;
    std::vector<std::complex<float>> elements;  // [sensed][modes]: conj(turn) exp(-2 pi i m x / N) / sqrt(N)
};

// Return implementations that refer to their argument, which must outlive them.
std::unique_ptr<Sensing> sensing_by_matrix(const SensingMatrix& matrix);
std::unique_ptr<Sensing> sensing_by_grid(const SensingTables& tables);

// Sparse reconstruction by separable approximation (SpaRSA; S. J. Wright, R. D. Nowak, M. A. T. Figueiredo, IEEE Trans.
// Signal Process. 57, 2479 (2009); docs/transforms.md 9). Minimizes |A x - y|^2 / 2 + tau * sum of amplitudes in a
// fixed number of steps. Plain Barzilai-Borwein steps may diverge, so their curvature is bounded from below. Searches
// one A-scan at a time. Owns the sensing operator and the buffers of one thread.
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

// Tables shared by the threads of a plan.
struct CompressiveTables {
    explicit CompressiveTables(const ReconstructionSpec& spec);

    std::unique_ptr<Sensing> sensing() const;

    SensingTables sensing_tables;
    std::unique_ptr<SensingMatrix> matrix;  // null when using a grid
    CompressiveRecipe recipe;
};

// Reconstructs lines one at a time. The tables must outlive it.
class CompressiveLine : public LineMethod {
  public:
    CompressiveLine(const PlainTables& plain, const CompressiveTables& tables, const LineFormat& format,
                    DepthRange kept);

    std::int64_t lines_at_once() const override { return 1; }
    std::span<const std::complex<float>* const> reconstruct(std::span<const RawLine> lines) override;

  private:
    const float* spectrum_of(const RawLine& line);

    const SensingTables& tables_;
    std::optional<KLinearLine> k_linear_;  // if samples are those of the k grid
    Subtraction subtract_;
    DepthRange kept_;
    SparseSearch search_;
    std::vector<float> spectrum_;  // [samples]
    std::vector<float> sensed_;
    std::vector<std::complex<float>> bins_;  // kept depth only
    const std::complex<float>* bins_of_line_;
};

// ---- dispersion-encoded full range ----------------------------------------------------------------------------------

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
