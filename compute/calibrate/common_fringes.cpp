// Detects an object in the mean spectrum of a B-scan. A mirror or a flat interface creates the same fringes in every
// A-scan, so frame_mean would remove it with the background (97.7 -> 34.7 dB, docs/algorithms.md 2.2).
#include <algorithm>
#include <complex>
#include <vector>

#include "compute/calibrate/calibrate.h"
#include "compute/calibrate/probe.h"

namespace echolux {

CommonFringe strongest_common_fringe(const ReconstructionSpec& spec, const Block& block) {
    constexpr double min_above_median = 10;  // 10 dB: quieter depths are not significant
    Recipe recipe = spec.recipe;
    recipe.method = Method::plain;
    recipe.background = Background::rolling;  // removes the smooth source spectrum, keeps all fringes
    recipe.rolling_width = std::min<std::int64_t>(32, spec.geometry.samples / 4);
    recipe.fixed_pattern = FixedPattern::none;
    recipe.average = Average::none;
    recipe.noise_floor = NoiseFloor::none;
    recipe.quantity = Quantity::complex;
    const ProbedBlock probe = probed(spec, recipe, block);
    const auto* bins = reinterpret_cast<const std::complex<float>*>(probe.voxels.data());

    const std::int64_t depth = probe.grid.depth;
    const auto lines = static_cast<double>(probe.grid.a_scans * probe.grid.b_scans);
    std::vector<std::complex<double>> mean(static_cast<std::size_t>(depth));
    std::vector<double> power(mean.size());
    for (std::int64_t i = 0; i < probe.grid.voxels(); ++i) {
        const std::complex<double> bin(bins[i]);
        const auto z = static_cast<std::size_t>(i % depth);
        mean[z] += bin / lines;
        power[z] += std::norm(bin) / lines;
    }
    const auto begin = static_cast<std::size_t>(first_row_past_zero_delay(depth));
    std::vector<double> sorted(power.begin() + static_cast<std::ptrdiff_t>(begin), power.end());
    if (sorted.empty()) return {};
    std::nth_element(sorted.begin(), sorted.begin() + std::ssize(sorted) / 2, sorted.end());
    const double min = min_above_median * sorted[sorted.size() / 2];

    std::size_t strongest = begin;
    for (std::size_t z = begin; z < mean.size(); ++z) {
        if (std::norm(mean[z]) > std::norm(mean[strongest])) strongest = z;
    }
    if (power[strongest] <= min) return {};
    return {static_cast<std::int64_t>(strongest), std::norm(mean[strongest]) / power[strongest]};
}

}  // namespace echolux
