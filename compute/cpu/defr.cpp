#include "compute/cpu/defr.h"

#include <algorithm>

#include "compute/indexing.h"
#include "compute/steps/sparse.h"

namespace echolux::cpu {

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
