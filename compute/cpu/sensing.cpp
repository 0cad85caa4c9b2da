#include "compute/cpu/sensing.h"

#include <algorithm>
#include <span>

#include "compute/cpu/sample_spreading.h"
#include "compute/fft/fft.h"
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

}  // namespace echolux::cpu
