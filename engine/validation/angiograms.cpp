// Validates angiography of repeats with tissue motion, by the contrast of vessels to static tissue.
#include <fmt/format.h>
#include <algorithm>

#include "engine/validation/repeats_scene.h"
#include "engine/validation/topics.h"

namespace echolux {
namespace {

// Returns the flow recipe of one method.
FlowRecipe angiography(FlowMethod method, bool align, double significance) {
    FlowRecipe flow;
    flow.method = method;
    flow.window_depth = 3;
    flow.window_lines = 3;
    flow.align = align;
    flow.significance = significance;
    return flow;
}

// Over seeds: the min contrast, and the max share of static tissue that is shown as flow.
struct Found {
    double raw = 0;  // max contrast of unaligned amplitudes
    double contrast = 1e9, still = 0;
};

// Measures all seeds at one amplitude of motion.
Found found_at(double motion_um, unsigned seeds) {
    Found all;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        RepeatsScene scene;
        scene.seed = seed;
        scene.motion_um = motion_um;
        const PaintedRepeats painted = painted_repeats(scene);
        const auto contrast = [&](const FlowRecipe& flow) {
            return contrast_of(painted, flow_of(scene, painted, flow));
        };
        constexpr FlowMethod complex = FlowMethod::complex_decorrelation;
        all.raw = std::max(all.raw, contrast(angiography(FlowMethod::decorrelation, false, 0)).contrast);
        all.contrast = std::min(all.contrast, contrast(angiography(complex, true, 0)).contrast);
        all.still = std::max(all.still, contrast(angiography(complex, true, FlowRecipe{}.significance)).still);
    }
    return all;
}

}  // namespace

CheckTable validated_angiograms(ValidationRun& run) {
    constexpr double share = 0.75;  // min share of the contrast at rest that must remain at 1 um
    const unsigned seeds = run.quick() ? 1 : 5;
    CheckTable table{"Angiography of moving tissue",
                     "Vessels in layered tissue, 128 x 160 x 12 voxels of 1.4 x 5 um, beam radius 10 um, 20 dB, four "
                     "repeats; blood keeps half of its field from repeat to repeat. Contrast is the mean of what flows "
                     "less that of static\ntissue, in standard deviations of the latter, without a threshold. Each "
                     "repeat moves by a normal random number of that rms along x and z, 0.3 of it along y; always on "
                     "the CPU; the worst of all seeds. Expected: a float64 model.",
                     {}};
    const Found still = found_at(0, seeds);
    table.checks.push_back(at_least("at rest, aligned: contrast", "", still.contrast, 14.8, 14.8));
    table.checks.push_back(at_most("at rest: static tissue shown as flow", "", still.still, 0.02, 0.007));
    for (const auto& [um, expected] : {std::pair{1.0, 11.5}, std::pair{3.0, 5.7}}) {
        const Found moved = found_at(um, seeds);
        const std::string at = fmt::format("{:g} um: ", um);
        table.checks.push_back(reported(at + "contrast of amplitudes, not aligned", "", moved.raw));
        table.checks.push_back(at_least(at + "contrast, aligned", "", moved.contrast,
                                        um == 1 ? std::max(10 * moved.raw, share * still.contrast) : expected,
                                        expected));
        table.checks.push_back(at_most(at + "static tissue shown as flow", "", moved.still, 2 * still.still + 0.01));
        run.progress().advance(0);
    }
    return table;
}

}  // namespace echolux
