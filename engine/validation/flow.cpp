// Validations of flow: angiograms of repeats and Doppler velocities.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <random>

#include "engine/validation/model_instrument.h"
#include "engine/validation/scenes.h"
#include "engine/validation/topics.h"

namespace echolux {

// Validates angiography of repeats with tissue motion, by the contrast of vessels to static tissue.

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

// Validates Doppler velocities against those of a moving reflector (docs/algorithms.md 5.1).

namespace {

constexpr double refractive_index = 1.38, line_rate_hz = 70'000;
constexpr std::int64_t lines = 8, bin = 270;
constexpr double counts = 100;  // amplitude of the fringe

// Returns the spec for Doppler flow of the model instrument.
ReconstructionSpec flow_spec(const ModelInstrument& instrument, std::int64_t b_scans) {
    ReconstructionSpec spec = instrument.spec(lines);
    spec.geometry.b_scans = b_scans;
    spec.geometry.refractive_index = refractive_index;
    spec.geometry.line_rate_hz = line_rate_hz;
    for (const double light : instrument.source()) spec.calibration.background.push_back(1000 * light);
    spec.recipe.background = Background::stored;
    spec.recipe.resample = Resample::spline;
    spec.recipe.quantity = Quantity::intensity;
    spec.recipe.noise_floor_db = -300;  // no masking
    spec.flow.method = FlowMethod::doppler;
    return spec;
}

// Returns spectra of one reflector per B-scan that moves away from zero delay at its velocity.
std::vector<float> moving(const ModelInstrument& instrument, const ReconstructionSpec& spec,
                          const std::vector<double>& velocities_mm_s, double noise_rms) {
    std::mt19937 random(5);
    std::normal_distribution<double> noise;  // unit variance, because 0 is not allowed
    std::vector<float> spectra;
    for (const double velocity : velocities_mm_s) {
        for (std::int64_t line = 0; line < lines; ++line) {
            const double way_um = velocity * 1000 * static_cast<double>(line) / line_rate_hz;
            const auto fringe = instrument.fringe(instrument.depth_of(bin) + refractive_index * way_um);
            for (std::size_t p = 0; p < fringe.size(); ++p) {
                spectra.push_back(static_cast<float>(spec.calibration.background[p] + counts * double{fringe[p]} +
                                                     noise_rms * noise(random)));
            }
        }
    }
    return spectra;
}

// Returns the rms noise of samples for this signal-to-noise ratio at the reflector's bin. With a Hann window, noise of
// rms s has the power 1.5 s^2 / samples there, and a fringe half its mean amplitude under the window.
double noise_for(const ModelInstrument& instrument, double snr_db) {
    const Envelope envelope = envelope_of(instrument);
    constexpr double sum_of_hann = (ModelInstrument::samples - 1) / 2.0;
    const double peak =
        counts / 2 * std::accumulate(envelope.weights.begin(), envelope.weights.end(), 0.0) / sum_of_hann;
    return peak * std::pow(10, -snr_db / 20) * std::sqrt(ModelInstrument::samples / 1.5);
}

// Straight line through measured over true velocities.
struct Regression {
    double slope, intercept;  // the intercept is relative to v_max
};

// Regresses measured on true velocities over +-0.9 v_max, with `each` B-scans per velocity.
Regression regression(ValidationRun& run, const ModelInstrument& instrument, int each, double noise_rms) {
    constexpr int steps = 19;
    const ReconstructionSpec spec = flow_spec(instrument, std::int64_t{steps} * each);
    const double v_max = planned_flow_grid(spec)->v_max;
    std::vector<double> truth;
    for (int i = 0; i < steps * each; ++i) truth.push_back(v_max * 0.9 * (2.0 * (i % steps) / (steps - 1) - 1));
    const std::vector<float> spectra = moving(instrument, spec, truth, noise_rms);
    const ReconstructedBlock block = run.reconstructed(spec, std::as_bytes(std::span(spectra)));
    double xx = 0, xy = 0, y = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        const std::int64_t voxel = (static_cast<std::int64_t>(i) * lines + lines / 2) * block.grid.depth + bin;
        const auto part = [&](std::int64_t at) {
            return static_cast<double>(static_cast<std::int8_t>(block.flow[static_cast<std::size_t>(at)]));
        };
        const double found = std::atan2(part(2 * voxel + 1), part(2 * voxel)) / std::numbers::pi * v_max;
        xx += truth[i] * truth[i];
        xy += truth[i] * found;
        y += found;
    }
    return {xy / xx, y / static_cast<double>(truth.size()) / v_max};
}

void add_checks(CheckTable& table, const std::string& what, const Regression& found, double distance) {
    table.checks.push_back(near(what + ": slope", "", found.slope, 1, distance));
    table.checks.push_back(near(what + ": intercept, of v_max", "", found.intercept, 0, 0.005));
}

}  // namespace

CheckTable validated_velocities(ValidationRun& run) {
    CheckTable table{
        "Doppler velocities",
        fmt::format("A reflector that moves between the lines of a B-scan, n = {}, 70 kHz; 3 bins x 4 lines. "
                    "Measured against true velocities over ± 0.9 v_max:\na straight line through all of them, no other "
                    "correction, with "
                    "the wavelength of the spectrum's centroid.",
                    refractive_index),
        {}};
    const ModelInstrument instrument;
    add_checks(table, "without noise", regression(run, instrument, 1, 0), 0.003);
    add_checks(table, "at 20 dB", regression(run, instrument, run.quick() ? 4 : 12, noise_for(instrument, 20)), 0.01);
    return table;
}

}  // namespace echolux
