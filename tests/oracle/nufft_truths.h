// Reference for the fast transform of nonuniform samples: sums over their true wavenumbers in double, and the published
// errors of each kernel (docs/transforms.md 7).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "assets/table.h"
#include "tests/oracle/chain.h"
#include "tests/oracle/instrument.h"

namespace echolux {

struct SampledNoise {
    static constexpr std::int64_t n = ClosedFormInstrument::samples;

    const ClosedFormInstrument instrument;
    const std::vector<float> noise = [] {
        std::mt19937 random(5);
        std::normal_distribution<float> value;
        std::vector<float> line(n);
        for (float& sample : line) sample = value(random);
        return line;
    }();

    ReconstructionSpec spec_for(const NufftRecipe& nufft) const {
        ReconstructionSpec spec = plain_spec(n, 1);
        spec.recipe.resample = Resample::nufft;
        spec.calibration.wavelengths_nm = instrument.wavelengths_nm;
        spec.nufft = nufft;
        return spec;
    }

    // Sum over the true k of the samples, each with its share of the grid and its phase, divided by the length of the
    // grid.
    std::vector<std::complex<double>> direct_sum(double a2 = 0) const {
        using std::numbers::pi;
        const std::vector<double>& k = instrument.pixel_k;
        const double k_min = instrument.uniform_k.front(), k_max = instrument.uniform_k.back();
        const double last = static_cast<double>(n - 1), step = (k_max - k_min) / last;
        std::vector<std::complex<double>> terms, turns;
        for (std::size_t p = 0; p < k.size(); ++p) {
            const std::size_t left = p == 0 ? 0 : p - 1, right = std::min(p + 1, k.size() - 1);
            const double share = (k[left] - k[right]) / step / static_cast<double>(right - left);
            const double u = (k[p] - k_min) / (k_max - k_min), kappa = 2 * u - 1;
            terms.push_back(share * double{noise[p]} * std::polar(1.0, -a2 * kappa * kappa) / double{n});
            turns.push_back(std::polar(1.0, -2 * pi * u * last / double{n}));
        }
        std::vector<std::complex<double>> bins(n / 2);
        for (std::complex<double>& bin : bins) {
            for (std::size_t p = 0; p < terms.size(); ++p) {
                bin += terms[p];
                terms[p] *= turns[p];
            }
        }
        return bins;
    }
};

inline double floor_of_float(double oversampling) {
    return oversampling == 2 ? 3e-7 : oversampling == 1.5 ? 6e-7 : 6e-6;
}

inline constexpr std::array nufft_kernels{GridKernel::gaussian, GridKernel::kaiser_bessel, GridKernel::exponential};

}  // namespace echolux
