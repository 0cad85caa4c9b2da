// Isolates depths in spectra: transform with the spec's dispersion, cut, and transform back.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

#include "compute/calibrate/dispersion_search.h"
#include "compute/calibrate/probe.h"
#include "compute/fft/fft.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plan/choices.h"
#include "compute/plan/tables.h"

namespace echolux {
namespace {

struct Range {
    std::int64_t begin = 0, end = 0;
};

// Resolves 0 to the limits and checks the range. Throws Error{bad_setting}.
Range chosen(std::int64_t begin, std::int64_t end, std::int64_t min, std::int64_t all, const char* what) {
    const Range range{begin != 0 ? begin : min, end != 0 ? end : all};
    require(range.begin >= 0 && range.begin < range.end && range.end <= all,
            std::string(what) + " " + std::to_string(range.begin) + ":" + std::to_string(range.end) +
                " lie outside of the B-scan",
            "dispersion search", "stay within " + std::to_string(min) + ":" + std::to_string(all));
    return range;
}

// Returns 1 at the selected depths with a smooth slope around them, because a sharp cut would ring.
std::vector<float> depth_gate(const Range& depths, std::int64_t points) {
    constexpr std::int64_t slope = 8;  // bins
    std::vector<float> gate(index(points), 0.0F);
    for (std::int64_t z = std::max<std::int64_t>(0, depths.begin - slope); z < std::min(points / 2, depths.end + slope);
         ++z) {
        const std::int64_t outside = std::max({depths.begin - z, z - depths.end + 1, std::int64_t{0}});
        const double u = static_cast<double>(outside) / (slope + 1);
        gate[index(z)] = static_cast<float>(0.5 + 0.5 * std::cos(std::numbers::pi * u));
    }
    return gate;
}

// Returns the factors that apply the spec's dispersion compensation.
std::vector<std::complex<float>> shown_phasors(const ReconstructionSpec& spec, std::int64_t points) {
    std::vector<std::complex<float>> phasors(index(points), 1.0F);
    if (!spec.recipe.dispersion) return phasors;
    const std::vector<double> theta = dispersion_phase(spec.recipe, spec.calibration, k_grid(spec.calibration, points));
    std::transform(theta.begin(), theta.end(), phasors.begin(),
                   [](double phase) { return std::complex<float>(std::polar(1.0, -phase)); });
    return phasors;
}

// Checks that a selected region is wide enough for blur and contains a reflector. `power` covers all depths.
void require_reflector(const Range& depths, const std::vector<double>& power) {
    constexpr std::int64_t min_depths = 24, bands = 16;
    constexpr double min_above_noise = 1.5;
    require(depths.end - depths.begin >= min_depths,
            "depths " + std::to_string(depths.begin) + ":" + std::to_string(depths.end) + " leave no room for a blur",
            "dispersion search", "choose at least " + std::to_string(min_depths) + " depths around the reflector");
    const auto mean = [&](std::int64_t begin, std::int64_t end) {
        return std::accumulate(power.begin() + begin, power.begin() + end, 0.0) / static_cast<double>(end - begin);
    };
    const std::int64_t all = std::ssize(power), width = std::max<std::int64_t>(1, all / bands);
    double quietest = mean(depths.begin, depths.end);
    for (std::int64_t z = first_row_past_zero_delay(all); z + width <= all; z += width) {
        quietest = std::min(quietest, mean(z, z + width));
    }
    require(mean(depths.begin, depths.end) > min_above_noise * quietest,
            "depths " + std::to_string(depths.begin) + ":" + std::to_string(depths.end) + " hold nothing but noise",
            "dispersion search", "choose those of a reflector");
}

// Scales values to a root mean square of 1.
void scale_to_one(std::vector<std::complex<float>>& values) {
    double power = 0;
    for (const std::complex<float>& value : values) power += static_cast<double>(std::norm(value));
    require(power > 0, "the spectra hold nothing but zeros", "dispersion search", "choose another B-scan");
    const auto scale = static_cast<float>(std::sqrt(static_cast<double>(values.size()) / power));
    for (std::complex<float>& value : values) value *= scale;
}

}  // namespace

void cut_depths(SpectraOnGrid& spectra, std::int64_t begin, std::int64_t end) {
    const std::int64_t n = spectra.points;
    const std::vector<float> gate = depth_gate({begin, end}, n);
    Fft forward(Fft::Kind::complex_forward, n), inverse(Fft::Kind::complex_inverse, n);
    const auto scale = 1 / static_cast<float>(n);
    for (std::int64_t l = 0; l < spectra.lines(); ++l) {
        std::copy_n(spectra.values.begin() + l * n, n, forward.complex_in());
        forward.execute();
        std::transform(gate.begin(), gate.end(), forward.complex_out(), inverse.complex_in(),
                       [scale](float g, std::complex<float> bin) { return scale * g * bin; });
        inverse.execute();
        std::copy_n(inverse.complex_out(), n, spectra.values.begin() + l * n);
    }
}

SpectraOnGrid isolated_spectra(const ReconstructionSpec& spec, const Block& block, const DispersionSearch& wanted,
                               const std::function<void()>& goes_on) {
    constexpr std::int64_t asked_every = 64;  // lines
    const std::int64_t n = spec.geometry.samples;
    const std::vector<float> spectra = windowed_spectra(spec, block);
    const Range depths =
        chosen(wanted.depth_begin, wanted.depth_end, first_row_past_zero_delay(n / 2), n / 2, "depths");
    const Range of_block = chosen(wanted.line_begin, wanted.line_end, 0, std::ssize(spectra) / n, "A-scans");
    const std::int64_t all = of_block.end - of_block.begin;
    const std::int64_t count = std::min(all, std::max<std::int64_t>(1, wanted.lines));
    const std::vector<std::complex<float>> phasors = shown_phasors(spec, n);
    const std::vector<float> gate = depth_gate(depths, n);

    SpectraOnGrid isolated{std::vector<std::complex<float>>(index(count * n)), n};
    std::vector<double> power(index(n / 2), 0.0);
    Fft forward(Fft::Kind::complex_forward, n), inverse(Fft::Kind::complex_inverse, n);
    for (std::int64_t i = 0; i < count; ++i) {
        if (goes_on && i % asked_every == 0) goes_on();
        const float* spectrum = spectra.data() + (of_block.begin + i * all / count) * n;
        std::transform(phasors.begin(), phasors.end(), spectrum, forward.complex_in(),
                       [](std::complex<float> t, float s) { return t * s; });
        forward.execute();
        for (std::size_t z = 0; z < power.size(); ++z)
            power[z] += std::norm(std::complex<double>(forward.complex_out()[z]));
        std::transform(gate.begin(), gate.end(), forward.complex_out(), inverse.complex_in(),
                       [](float g, std::complex<float> bin) { return g * bin; });
        inverse.execute();
        std::copy_n(inverse.complex_out(), n, isolated.values.begin() + i * n);
    }
    const bool is_chosen = wanted.depth_begin != 0 || wanted.depth_end != 0;
    if (is_chosen) require_reflector(depths, power);
    scale_to_one(isolated.values);
    return isolated;
}

}  // namespace echolux
