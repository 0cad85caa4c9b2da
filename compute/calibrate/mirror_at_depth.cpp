#include "compute/calibrate/mirror_at_depth.h"

#include <algorithm>
#include <utility>

#include "compute/calibrate/depth_peak.h"
#include "compute/plan/tables.h"

namespace echolux {
namespace {

// Returns a plan with independent lines, in air, finely sampled in depth. The mean of a mirror's lines is never
// subtracted, because it is the mirror signal.
ReconstructionSpec for_mirrors(ReconstructionSpec plan, const std::vector<double>& background) {
    if (!background.empty()) plan.calibration.background = background;
    plan.calibration.fast_axis.clear();
    plan.calibration.k_jitter.clear();
    plan.geometry.fast_axis = FastAxis::uniform;
    plan.geometry.refractive_index = 1;
    Recipe& recipe = plan.recipe;
    recipe.method = Method::plain;
    recipe.background = plan.calibration.background.empty() ? Background::none : Background::stored;
    recipe.fixed_pattern = FixedPattern::none;
    recipe.average = Average::none;
    recipe.zero_padding = points_per_bin;
    return plan;
}

// Inverts the sign of all dispersion.
ReconstructionSpec turned(ReconstructionSpec plan) {
    for (double& phase : plan.calibration.dispersion_rad) phase = -phase;
    Recipe& recipe = plan.recipe;
    for (double* coefficient : {&recipe.a2_rad, &recipe.a3_rad, &recipe.gdd_fs2, &recipe.tod_fs3}) {
        *coefficient = -*coefficient;
    }
    return plan;
}

// Returns whether the plan compensates any dispersion.
bool disperses(const ReconstructionSpec& plan) {
    if (!plan.recipe.dispersion) return false;
    const std::vector<double> theta =
        dispersion_phase(plan.recipe, plan.calibration, k_grid(plan.calibration, plan.geometry.samples));
    return std::ranges::any_of(theta, [](double phase) { return phase != 0; });
}

}  // namespace

MirrorAtDepth mirror_at_depth(const ReconstructionSpec& given, const std::vector<double>& background,
                              const std::string& name, const DepthWindow& window,
                              const std::function<MeanProfile(const ReconstructionSpec&)>& profile_of) {
    constexpr double higher_db = 0.1;
    const auto seen_by = [&](const ReconstructionSpec& spec) {
        const MeanProfile profile = profile_of(spec);
        MirrorAtDepth seen;
        seen.amplitude = profile.root_mean_power();
        seen.lines = profile.lines();
        seen.bins = profile.grid().depth / points_per_bin;
        seen.bin_um = profile.grid().spacing_um[0] * points_per_bin;
        seen.reading = required_mirror(seen.amplitude, seen.lines, name, window);
        return seen;
    };
    const ReconstructionSpec spec = for_mirrors(given, background);
    MirrorAtDepth mirror = seen_by(spec);
    if (!disperses(spec)) return mirror;
    MirrorAtDepth opposite = seen_by(turned(spec));
    opposite.is_opposite = true;
    return opposite.reading.level_db > mirror.reading.level_db + higher_db ? opposite : mirror;
}

}  // namespace echolux
