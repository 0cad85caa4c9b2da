#include "compute/calibrate/fixed_lines.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "compute/indexing.h"

namespace echolux {
namespace {

using Complex = std::complex<double>;
using Spectrum = std::vector<Complex>;

constexpr std::int64_t min_lines = 16, max_lines = 256;  // lines used

// The spectrum that the lines of a block share up to a phase.
class SharedSpectrum {
  public:
    explicit SharedSpectrum(const SpectraOnGrid& spectra)
        : spectra_(spectra), count_(std::min(max_lines, spectra.lines())), norms_(index(count_)) {
        for (std::int64_t l = 0; l < count_; ++l) {
            double power = 0;
            for (std::int64_t j = 0; j < spectra.points; ++j) power += std::norm(Complex(line(l)[j]));
            norms_[index(l)] = std::sqrt(power);
        }
    }

    // Returns it with norm 1, or zero if there is none.
    Spectrum found() const {
        constexpr int powers = 30, weighted_means = 10;
        Spectrum shared(line(0), line(0) + spectra_.points);
        for (int step = 0; step < powers; ++step) shared = strongest(shared);
        for (int step = 0; step < weighted_means; ++step) shared = evenly_held(shared);
        return shared;
    }

    // Returns whether all lines contain it equally. The fourth moment of the moduli is then 1. It is 2 for speckle and
    // larger for single reflectors.
    bool is_held_by_all(const Spectrum& shared) const {
        constexpr double max_moment = 1.5;
        double second = 0, fourth = 0;
        for (std::int64_t l = 0; l < count_; ++l) {
            const double power = std::norm(part_in(l, shared));
            second += power / static_cast<double>(count_);
            fourth += power * power / static_cast<double>(count_);
        }
        return second > 0 && fourth < max_moment * second * second;
    }

  private:
    const std::complex<float>* line(std::int64_t l) const {
        return spectra_.values.data() + l * spectra_.lines() / count_ * spectra_.points;
    }

    Complex part_in(std::int64_t l, const Spectrum& shared) const {
        Complex sum = 0;
        for (std::size_t j = 0; j < shared.size(); ++j) sum += Complex(line(l)[j]) * std::conj(shared[j]);
        return sum;
    }

    template <class WeightOf>
    Spectrum mean(const WeightOf& weight_of) const {
        Spectrum sum(index(spectra_.points));
        for (std::int64_t l = 0; l < count_; ++l) {
            const Complex weight = weight_of(l);
            for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += weight * Complex(line(l)[j]);
        }
        double power = 0;
        for (const Complex& value : sum) power += std::norm(value);
        const double scale = power > 0 ? 1 / std::sqrt(power) : 0;
        for (Complex& value : sum) value *= scale;
        return sum;
    }

    // One step of power iteration over lines of norm 1.
    Spectrum strongest(const Spectrum& shared) const {
        return mean([&](std::int64_t l) {
            const double norm = norms_[index(l)];
            return norm > 0 ? std::conj(part_in(l, shared)) / (norm * norm) : Complex();
        });
    }

    // Weights each line inversely to its remaining power and limits its modulus to the median.
    Spectrum evenly_held(const Spectrum& shared) const {
        std::vector<Complex> parts;
        std::vector<double> moduli;
        for (std::int64_t l = 0; l < count_; ++l) {
            parts.push_back(part_in(l, shared));
            moduli.push_back(std::abs(parts.back()));
        }
        std::nth_element(moduli.begin(), moduli.begin() + std::ssize(moduli) / 2, moduli.end());
        const double median = moduli[moduli.size() / 2];
        return mean([&](std::int64_t l) {
            const double modulus = std::abs(parts[index(l)]), norm = norms_[index(l)];
            const double rest = std::max(norm * norm - modulus * modulus, 1e-6 * norm * norm);
            if (modulus <= 0 || rest <= 0) return Complex();
            return std::conj(parts[index(l)]) * (std::min(modulus, median) / modulus / rest);
        });
    }

    const SpectraOnGrid& spectra_;
    std::int64_t count_;
    std::vector<double> norms_;
};

void take_out(const Spectrum& shared, SpectraOnGrid& spectra) {
    for (std::int64_t l = 0; l < spectra.lines(); ++l) {
        std::complex<float>* line = spectra.values.data() + l * spectra.points;
        Complex part = 0;
        for (std::size_t j = 0; j < shared.size(); ++j) part += Complex(line[j]) * std::conj(shared[j]);
        for (std::size_t j = 0; j < shared.size(); ++j) line[j] -= std::complex<float>(part * shared[j]);
    }
}

}  // namespace

std::int64_t take_out_fixed_lines(SpectraOnGrid& spectra) {
    constexpr std::int64_t most = 3;
    if (spectra.lines() < min_lines) return 0;
    for (std::int64_t found = 0; found < most; ++found) {
        const SharedSpectrum among(spectra);
        const Spectrum shared = among.found();
        if (!among.is_held_by_all(shared)) return found;
        take_out(shared, spectra);
    }
    return most;
}

}  // namespace echolux
