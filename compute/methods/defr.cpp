#include "compute/methods/defr.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "compute/fft/fft.h"
#include "compute/plan/tables.h"

namespace echolux {
namespace {

// Returns the largest amplitude of the transform of `values`.
double highest_bin(const std::vector<std::complex<double>>& values) {
    Fft transform(Fft::Kind::complex_forward, std::ssize(values));
    std::ranges::copy(values, transform.complex_in());
    transform.execute();
    const auto magnitude = [](const std::complex<float>& bin) { return std::abs(bin); };
    const std::span bins(transform.complex_out(), values.size());
    return static_cast<double>(std::abs(std::ranges::max(bins, {}, magnitude)));
}

// Returns the windowed source spectrum, or the window alone if there is no background.
std::vector<double> windowed_source(const ReconstructionSpec& spec, const KGrid& grid,
                                    const std::vector<double>& window) {
    if (spec.calibration.background.empty()) return window;
    std::vector<double> source = source_on_grid(spec.recipe, spec.calibration, grid);
    for (std::size_t j = 0; j < source.size(); ++j) source[j] = std::max(source[j], 0.0) * window[j];
    return source;
}

}  // namespace

DefrTables defr_tables(const ReconstructionSpec& spec) {
    const KGrid grid = k_grid(spec.calibration, spec.geometry.samples);
    Recipe undispersed = spec.recipe;
    undispersed.dispersion = false;
    DefrTables tables;
    for (const auto& value : spectral_weight_at(points_of_grid(grid), undispersed, spec.calibration, grid)) {
        tables.window.push_back(value.real());
    }
    const std::vector<double> theta = dispersion_phase(spec.recipe, spec.calibration, grid);
    for (const double phase : theta) tables.rotation.push_back(std::polar(1.0, phase));

    const std::vector<double> source = windowed_source(spec, grid, tables.window);
    std::vector<std::complex<double>> false_image(source.size());  // mirrored in depth, which preserves amplitudes
    double true_image = 0;                                         // all points in phase at zero delay
    for (std::size_t j = 0; j < source.size(); ++j) {
        false_image[j] = source[j] * std::polar(1.0, 2 * theta[j]);
        true_image += source[j];
    }
    tables.gamma = true_image > 0 ? std::min(1.0, highest_bin(false_image) / true_image) : 1;
    const double chosen = spec.defr.threshold;
    tables.threshold = chosen > 0 ? chosen : tables.gamma + spec.defr.delta * (1 - tables.gamma);
    return tables;
}

}  // namespace echolux
