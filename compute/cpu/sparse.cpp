#include "compute/cpu/sparse.h"

#include <algorithm>
#include <functional>
#include <span>

#include "compute/cpu/nonuniform.h"
#include "compute/fft/fft.h"
#include "compute/indexing.h"
#include "compute/methods/nonuniform.h"
#include "compute/parallel_for.h"
#include "compute/steps/sparse.h"

namespace echolux::cpu {
namespace {

using Bin = std::complex<float>;

// Explicit matrix. Both directions process row by row, in the order of memory.
class ByMatrix : public Sensing {
  public:
    explicit ByMatrix(const SensingMatrix& matrix) : matrix_(matrix) {}

    void to_samples(const Bin* profile, float* samples) override {
        for (std::size_t p = 0; p < rows(); ++p) {
            const Bin* row = matrix_.elements.data() + p * modes();
            float sum = 0;
            for (std::size_t m = 1; m < modes(); ++m) {
                sum += row[m].real() * profile[m].real() + row[m].imag() * profile[m].imag();
            }
            samples[p] = 2 * sum + row[0].real() * profile[0].real() + row[0].imag() * profile[0].imag();
        }
    }

    void to_depth(const float* samples, Bin* profile) override {
        std::fill_n(profile, modes(), Bin{});
        for (std::size_t p = 0; p < rows(); ++p) {
            const Bin* row = matrix_.elements.data() + p * modes();
            for (std::size_t m = 0; m < modes(); ++m) profile[m] += samples[p] * row[m];
        }
    }

  private:
    std::size_t modes() const { return index(matrix_.modes); }
    std::size_t rows() const { return matrix_.elements.size() / modes(); }

    const SensingMatrix& matrix_;
};

// Without dispersion, samples and grid are real, which halves the work.
class ByRealGrid : public Sensing {
  public:
    explicit ByRealGrid(const SensingTables& tables)
        : tables_(tables), forward_(Fft::Kind::real_forward, tables.grid),
          inverse_(Fft::Kind::real_inverse, tables.grid) {}

    void to_samples(const Bin* profile, float* samples) override {
        Bin* bins = inverse_.complex_in();
        for (std::size_t m = 0; m < tables_.correction.size(); ++m) bins[m] = profile[m] * tables_.correction[m];
        bins[0] = bins[0].real();
        std::fill(bins + tables_.modes, bins + tables_.grid / 2 + 1, Bin{});
        inverse_.execute();
        from_grid(tables_.spread, inverse_.real(), samples);
    }

    void to_depth(const float* samples, Bin* profile) override {
        to_grid(tables_.spread, samples, forward_.real());
        forward_.execute();
        const Bin* bins = forward_.complex_out();
        for (std::size_t m = 0; m < tables_.correction.size(); ++m) profile[m] = bins[m] * tables_.correction[m];
    }

  private:
    const SensingTables& tables_;
    Fft forward_;
    Fft inverse_;
};

// With dispersion, phase factors make samples and grid complex. The inverse yields complex values whose real part is
// the sample.
class ByComplexGrid : public Sensing {
  public:
    explicit ByComplexGrid(const SensingTables& tables)
        : tables_(tables), turned_(tables.samples.size()), forward_(Fft::Kind::complex_forward, tables.grid),
          inverse_(Fft::Kind::complex_inverse, tables.grid) {
        for (const std::complex<double>& turn : tables.turns_of_grid) turns_.emplace_back(turn);
    }

    void to_samples(const Bin* profile, float* samples) override {
        Bin* bins = inverse_.complex_in();
        std::fill_n(bins, tables_.grid, Bin{});
        for (std::int64_t m = 0; m < tables_.modes; ++m) {
            bins[bin(m)] = share_of_norm(static_cast<int>(m)) * tables_.correction[index(m)] * profile[m];
        }
        inverse_.execute();
        from_grid(tables_.spread, inverse_.complex_out(), turned_.data());
        for (std::size_t p = 0; p < turned_.size(); ++p) {
            samples[p] = turned_[p].real() * turns_[p].real() - turned_[p].imag() * turns_[p].imag();
        }
    }

    void to_depth(const float* samples, Bin* profile) override {
        for (std::size_t p = 0; p < turned_.size(); ++p) turned_[p] = samples[p] * std::conj(turns_[p]);
        to_grid(tables_.spread, turned_.data(), forward_.complex_in());
        forward_.execute();
        const Bin* bins = forward_.complex_out();
        for (std::int64_t m = 0; m < tables_.modes; ++m) profile[m] = bins[bin(m)] * tables_.correction[index(m)];
    }

  private:
    std::int64_t bin(std::int64_t m) const { return bin_of_grid(m, tables_.middle, tables_.grid); }

    const SensingTables& tables_;
    std::vector<Bin> turns_;
    std::vector<Bin> turned_;  // [sensed]
    Fft forward_;
    Fft inverse_;
};

}  // namespace

SensingMatrix::SensingMatrix(const SensingTables& tables)
    : modes(tables.modes), elements(tables.samples.size() * index(tables.modes)) {
    parallel_for(0, std::ssize(tables.samples), [&](std::int64_t p) {
        Bin* row = elements.data() + p * modes;
        for (std::int64_t m = 0; m < modes; ++m) row[m] = Bin(tables.element(index(p), m));
    });
}

std::unique_ptr<Sensing> sensing_by_matrix(const SensingMatrix& matrix) {
    return std::make_unique<ByMatrix>(matrix);
}

std::unique_ptr<Sensing> sensing_by_grid(const SensingTables& tables) {
    if (tables.real) return std::make_unique<ByRealGrid>(tables);
    return std::make_unique<ByComplexGrid>(tables);
}

// std::abs() guards against overflow, which counts cannot cause, and is ten times slower.
static float length_of(const std::complex<float>& bin) {
    return echolux::length_of(std::norm(bin));
}

static Phasor phasor(const std::complex<float>& bin) {
    return {bin.real(), bin.imag()};
}

SparseSearch::SparseSearch(std::unique_ptr<Sensing> sensing, const CompressiveRecipe& recipe, std::int64_t samples,
                           std::int64_t modes)
    : sensing_(std::move(sensing)), recipe_(recipe), profile_(index(modes)), gradient_(index(modes)),
      next_(index(modes)), step_(index(modes)), residual_(index(samples)), change_(index(samples)) {
    objectives_.reserve(index(recipe.iterations));
}

// The residual A x - y starts at -y, because the search starts with an empty profile.
const std::vector<std::complex<float>>& SparseSearch::run(const float* samples) {
    std::ranges::fill(profile_, std::complex<float>{});
    std::transform(samples, samples + residual_.size(), residual_.begin(), std::negate<float>{});
    objectives_.clear();
    max_tries_ = 0;
    for (std::int64_t i = 0; i < recipe_.iterations; ++i) {
        sensing_->to_depth(residual_.data(), gradient_.data());
        if (i == 0) begin();
        rules_.begin_iteration(recipe_, i);
        StepSums<double> sums = tried();
        int tries = 1;
        for (; tries < rules_.max_tries && !rules_.accepts(recipe_, sums); ++tries) {
            rules_.shorten();
            sums = tried();
        }
        max_tries_ = std::max(max_tries_, tries);
        profile_.swap(next_);
        for (std::size_t p = 0; p < residual_.size(); ++p) residual_[p] += change_[p];
        objectives_.push_back(rules_.objective(sums));
        rules_.take(recipe_, sums);
    }
    return profile_;
}

void SparseSearch::begin() {
    float largest = 0;
    double energy = 0;
    for (const auto& value : gradient_) largest = std::max(largest, length_of(value));
    for (const float value : residual_) energy += static_cast<double>(value) * static_cast<double>(value);
    rules_.begin(recipe_, static_cast<double>(largest), energy);
}

// Computes a trial step along the gradient with the threshold: next_, step_, change_.
StepSums<double> SparseSearch::tried() {
    const float length = rules_.length(), min = rules_.threshold();
    StepSums<double> sums;
    for (std::size_t m = 0; m < profile_.size(); ++m) {
        const TriedBin bin(phasor(profile_[m]), phasor(gradient_[m]), length, min, static_cast<int>(m), sums);
        next_[m] = {bin.next.re, bin.next.im};
        step_[m] = {bin.step.re, bin.step.im};
    }
    sensing_->to_samples(step_.data(), change_.data());
    for (std::size_t p = 0; p < residual_.size(); ++p) add_change(residual_[p], change_[p], sums);
    return sums;
}

CompressiveTables::CompressiveTables(const ReconstructionSpec& spec)
    : sensing_tables(echolux::sensing_tables(spec)), recipe(spec.compressive) {
    if (recipe.transform == SensingTransform::exact) matrix = std::make_unique<SensingMatrix>(sensing_tables);
}

std::unique_ptr<Sensing> CompressiveTables::sensing() const {
    return matrix ? sensing_by_matrix(*matrix) : sensing_by_grid(sensing_tables);
}

CompressiveLine::CompressiveLine(const PlainTables& plain, const CompressiveTables& tables, const LineFormat& format,
                                 DepthRange kept)
    : tables_(tables.sensing_tables), subtract_(format, plain.rolling_width), kept_(kept),
      search_(tables.sensing(), tables.recipe, std::ssize(tables_.samples), tables_.modes),
      spectrum_(index(tables_.length)), sensed_(tables_.samples.size()), bins_(index(kept.end - kept.begin)),
      bins_of_line_(bins_.data()) {
    if (tables_.on_k_grid) k_linear_.emplace(plain, format);
}

const float* CompressiveLine::spectrum_of(const RawLine& line) {
    if (k_linear_) return (*k_linear_)(line);
    subtract_(line, spectrum_.data());
    return spectrum_.data();
}

std::span<const std::complex<float>* const> CompressiveLine::reconstruct(std::span<const RawLine> lines) {
    const float* spectrum = spectrum_of(lines.front());
    for (std::size_t i = 0; i < sensed_.size(); ++i) sensed_[i] = spectrum[tables_.samples[i]];
    const std::vector<std::complex<float>>& profile = search_.run(sensed_.data());
    for (std::size_t z = 0; z < bins_.size(); ++z) bins_[z] = profile[index(kept_.begin) + z] * tables_.to_bins;
    return {&bins_of_line_, 1};
}

// ---- dispersion-encoded full range ----------------------------------------------------------------------------------

template <class Real>
FullRangeSearch<Real>::FullRangeSearch(const DefrTables& tables, const DefrRecipe& recipe)
    : recipe_(recipe), threshold_(static_cast<Real>(tables.threshold)), spectrum_(tables.rotation.size()),
      found_(tables.rotation.size()), forward_(FftKind::complex_forward, std::ssize(tables.rotation)),
      backward_(FftKind::complex_inverse, std::ssize(tables.rotation)) {
    for (const std::complex<double>& value : tables.rotation) rotation_.emplace_back(value);
}

template <class Real>
const std::complex<Real>* FullRangeSearch<Real>::run() {
    std::ranges::fill(found_, std::complex<Real>{});
    to_depth();
    for (std::int64_t i = 0; i < recipe_.iterations && find_peaks(); ++i) {
        take_away();
        to_depth();
    }
    const std::complex<Real>* left = forward_.complex_out();
    if (recipe_.residual || recipe_.iterations == 0) {
        for (std::size_t z = 0; z < found_.size(); ++z) found_[z] += left[z];
    }
    return found_.data();
}

// Compensates the dispersion of true images. Mirror images get twice the dispersion.
template <class Real>
void FullRangeSearch<Real>::to_depth() {
    std::complex<Real>* in = forward_.complex_in();
    for (std::size_t j = 0; j < spectrum_.size(); ++j) in[j] = spectrum_[j] * std::conj(rotation_[j]);
    forward_.execute();
}

// Returns false if nothing is left.
template <class Real>
bool FullRangeSearch<Real>::find_peaks() {
    const std::complex<Real>* left = forward_.complex_out();
    std::complex<Real>* peaks = backward_.complex_in();
    const auto power = [left](std::size_t z) { return power_of_bin(left[z].real(), left[z].imag()); };
    Real strongest = 0;
    for (std::size_t z = 0; z < found_.size(); ++z) strongest = std::max(strongest, power(z));
    if (!(strongest > 0)) return false;
    const PeakDetector<Real> is_peak(threshold_, strongest);
    for (std::size_t z = 0; z < found_.size(); ++z) {
        peaks[z] = is_peak(power(z)) ? left[z] : std::complex<Real>{};
        found_[z] += peaks[z];
    }
    return true;
}

template <class Real>
void FullRangeSearch<Real>::take_away() {
    backward_.execute();
    const std::complex<Real>* peaks = backward_.complex_out();
    const Real scale = 1 / static_cast<Real>(spectrum_.size());  // the transforms are not normalized
    for (std::size_t j = 0; j < spectrum_.size(); ++j) {
        spectrum_[j] -= scale * shown_by(peaks[j].real(), peaks[j].imag(), rotation_[j].real(), rotation_[j].imag());
    }
}

template class FullRangeSearch<float>;
template class FullRangeSearch<double>;

DefrLine::DefrLine(const PlainTables& plain, const DefrTables& tables, const DefrRecipe& recipe,
                   const LineFormat& format, DepthRange kept)
    : tables_(tables), k_linear_(plain, format), kept_(kept), bins_(index(kept.end - kept.begin)),
      bins_of_line_(bins_.data()) {
    if (recipe.double_precision)
        double_ = std::make_unique<FullRangeSearch<double>>(tables, recipe);
    else
        single_ = std::make_unique<FullRangeSearch<float>>(tables, recipe);
}

DefrLine::~DefrLine() = default;

std::span<const std::complex<float>* const> DefrLine::reconstruct(std::span<const RawLine> lines) {
    const float* points = k_linear_(lines.front());
    if (double_)
        search(*double_, points);
    else
        search(*single_, points);
    return {&bins_of_line_, 1};
}

template <class Real>
void DefrLine::search(FullRangeSearch<Real>& search, const float* points) {
    const std::int64_t n = std::ssize(tables_.window);
    for (std::int64_t j = 0; j < n; ++j) {
        search.spectrum()[j] = static_cast<Real>(points[j]) * static_cast<Real>(tables_.window[index(j)]);
    }
    const std::complex<Real>* profile = search.run();
    for (std::int64_t z = kept_.begin; z < kept_.end; ++z) {
        bins_[index(z - kept_.begin)] = std::complex<float>(profile[bin_of_transform(z, n)]);
    }
}

}  // namespace echolux::cpu
