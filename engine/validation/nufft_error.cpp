// The fast transform of samples where they lie against the sum that it approximates (docs/transforms.md 7).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include "assets/table.h"
#include "engine/validation/model_instrument.h"
#include "engine/validation/topics.h"

namespace echolux {
namespace {

constexpr std::int64_t n = ModelInstrument::samples;

constexpr std::array kernels{GridKernel::gaussian, GridKernel::kaiser_bessel, GridKernel::exponential};
constexpr std::array kernel_names{"Gaussian", "Kaiser-Bessel", "exponential"};

// Where floats end: coarse grids divide by small numbers.
double float_floor(double oversampling) {
    return oversampling >= 2 ? 3e-7 : oversampling >= 1.5 ? 6e-7 : 6e-6;
}

// Sum over the samples' true wavenumbers, each with its share of the grid.
std::vector<std::complex<double>> direct_sum(const ModelInstrument& instrument, const std::vector<float>& line) {
    std::vector<std::complex<double>> terms, turns, bins(n / 2);
    for (std::size_t p = 0; p < line.size(); ++p) {
        terms.emplace_back(instrument.share()[p] * double{line[p]} / double{n});
        turns.push_back(std::polar(1.0, -2 * std::numbers::pi * instrument.points()[p] / double{n}));
    }
    for (std::complex<double>& bin : bins) {
        for (std::size_t p = 0; p < terms.size(); ++p) {
            bin += terms[p];
            terms[p] *= turns[p];
        }
    }
    return bins;
}

double relative_error(const std::vector<std::complex<float>>& found, const std::vector<std::complex<double>>& truth) {
    double error = 0, all = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        error += std::norm(std::complex<double>(found[i]) - truth[i]);
        all += std::norm(truth[i]);
    }
    return std::sqrt(error / all);
}

}  // namespace

CheckTable validated_nufft(ValidationRun& run) {
    CheckTable table{
        "NUFFT",
        "Noise on the samples of the model instrument; relative l2 error of all depth bins against the sum "
        "over the true wavenumbers in double.\nExpected: the published error of the kernel; the bound is 1.5 "
        "times that, or where floats end.",
        {}};
    const ModelInstrument instrument;
    std::mt19937 random(5);
    std::normal_distribution<float> value;
    std::vector<float> noise(n);
    for (float& sample : noise) sample = value(random);
    const auto truth = direct_sum(instrument, noise);
    for (const PublishedNufftError& row : published_nufft_errors()) {
        if (run.quick() && row.oversampling < 2) continue;
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            ReconstructionSpec spec = instrument.spec(1);
            spec.recipe.window = Window::rect;
            spec.recipe.resample = Resample::nufft;
            spec.nufft = {kernels[i], row.oversampling, row.width};
            table.checks.push_back(
                at_most(fmt::format("{}, R = {}, W = {}", kernel_names[i], row.oversampling, row.width), "",
                        relative_error(run.bins(spec, noise), truth),
                        std::max(1.5 * row.errors.at(i), float_floor(row.oversampling)), row.errors.at(i)));
        }
    }
    return table;
}

}  // namespace echolux
