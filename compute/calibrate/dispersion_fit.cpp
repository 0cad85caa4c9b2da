// Whether the dispersion of a plan is that of its spectra. A real spectrum shows each reflector on both sides of zero
// delay: under the right dispersion one of the two is sharp and the other twice as blurred, under half of it, or twice
// as much, neither is as sharp (docs/transforms.md 8).
#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "compute/calibrate/calibrate.h"
#include "compute/calibrate/probe.h"
#include "compute/depth_entropy.h"
#include "compute/fft/fft.h"
#include "compute/indexing.h"
#include "compute/plan/tables.h"

namespace echolux {
namespace {

// Some lines of a block as they enter the transform, of power 1, both sides without what is left of the source at zero
// delay, which is sharp without dispersion; empty: they hold nothing.
SpectraOnGrid sampled_spectra(const ReconstructionSpec& spec, const Block& block) {
    constexpr std::int64_t max_lines = 32;
    const std::vector<float> all = windowed_spectra(spec, block);
    const std::int64_t n = spec.geometry.samples, lines = std::ssize(all) / n, count = std::min(max_lines, lines);
    const std::int64_t foot = first_row_past_zero_delay(n / 2);
    Fft forward(Fft::Kind::complex_forward, n), inverse(Fft::Kind::complex_inverse, n);
    SpectraOnGrid spectra{{}, n};
    double power = 0;
    for (std::int64_t l = 0; l < count; ++l) {
        std::copy_n(all.data() + l * lines / count * n, n, forward.complex_in());
        forward.execute();
        for (std::int64_t z = 0; z < n; ++z) {
            const bool is_kept = z >= foot && z <= n - foot;
            inverse.complex_in()[z] = is_kept ? forward.complex_out()[z] : std::complex<float>();
        }
        inverse.execute();
        for (std::int64_t j = 0; j < n; ++j) {
            spectra.values.push_back(inverse.complex_out()[j]);
            power += static_cast<double>(std::norm(spectra.values.back()));
        }
    }
    if (!(power > 0)) return {{}, n};
    const auto scale = static_cast<float>(std::sqrt(static_cast<double>(spectra.values.size()) / power));
    for (std::complex<float>& value : spectra.values) value *= scale;
    return spectra;
}

}  // namespace

double sharpest_dispersion_factor(const ReconstructionSpec& spec, const Block& block) {
    constexpr int steps = 20;  // to twice the dispersion
    constexpr double beyond_chance = 3;
    const SpectraOnGrid spectra = sampled_spectra(spec, block);
    if (spectra.values.empty()) return 1;
    const std::vector<double> theta =
        dispersion_phase(spec.recipe, spec.calibration, k_grid(spec.calibration, spec.geometry.samples));
    std::vector<std::complex<float>> phasors;
    for (int step = 0; step <= steps; ++step) {
        for (const double phase : theta) phasors.emplace_back(std::polar(1.0, -2.0 * step / steps * phase));
    }
    const std::vector<double> entropies = depth_entropy(spectra, {Backend::cpu})->of(phasors);
    const auto best = std::ranges::min_element(entropies);
    const double as_given = entropies[steps / 2];
    const bool is_plain = as_given - *best > beyond_chance * std::exp(-*best / 2);
    return is_plain ? 2.0 * static_cast<double>(best - entropies.begin()) / steps : 1;
}

}  // namespace echolux
