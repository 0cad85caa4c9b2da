// Validations of tissue analysis (surfaces between layers, and speckle filters) and of flow.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <random>

#include "compute/indexing.h"
#include "engine/layers/find_surfaces.h"
#include "engine/speckle/speckle_filter.h"
#include "engine/validation/scenes.h"
#include "engine/validation/validation.h"

namespace echolux {

// ---- Validates surfaces between layers against painted boundaries, by the mean absolute error in voxels as in
// publications.

namespace {

struct MeanErrors {
    double all = 0, worst = 0;  // mean over all surfaces, and of the worst one, in rows
    double missing = 0;         // share of all positions
};

// Searches the surfaces of a scene and compares them with the painted boundaries.
MeanErrors errors_of(const LayeredScene& scene) {
    SurfaceSearch search;
    for (std::size_t k = 0; k < retina_polarities.size(); ++k)
        search.wanted.push_back({std::to_string(k + 1), retina_polarities[k], k == 0 ? 0.0 : 3.0, 0, 1});
    SilentProgress silent;
    const Surfaces surfaces = find_surfaces(scene.intensity, scene.size, search, silent);
    MeanErrors errors;
    for (std::size_t k = 0; k < surfaces.all.size(); ++k) {
        double sum = 0, count = 0;
        for (std::size_t i = 0; i < scene.boundaries[k].size(); ++i) {
            const auto row = static_cast<double>(surfaces.all[k].rows[i]);
            if (std::isnan(row)) continue;  // reported as not found
            sum += std::abs(row - static_cast<double>(scene.boundaries[k][i]));
            ++count;
        }
        const double mean = sum / count;
        errors.all += mean / static_cast<double>(surfaces.all.size());
        errors.worst = std::max(errors.worst, mean);
    }
    errors.missing = 1 - share_found(surfaces);
    return errors;
}

}  // namespace

CheckTable validated_surfaces(ValidationRun& run) {
    constexpr double most = 0.8, most_of_worst = 1.2;  // rows
    constexpr double most_missing = 0.02;
    const unsigned seeds = run.quick() ? 1 : 5;
    CheckTable table{"Surfaces between layers",
                     "Retinas painted with speckle, 256 x 128 x 64 voxels, ten boundaries with a foveal pit and a "
                     "waviness of one voxel. Mean absolute error, the\nlargest of all seeds. Expected: a float64 "
                     "model of the same search.",
                     {}};
    for (const auto& [snr_db, expected, expected_worst] :
         {std::tuple{25.0, 0.71, 1.21}, std::tuple{15.0, 0.64, 1.21}}) {
        MeanErrors greatest;
        for (unsigned seed = 1; seed <= seeds; ++seed) {
            const MeanErrors errors = errors_of(retina_scene({256, 128, 64}, seed, snr_db));
            greatest = {std::max(greatest.all, errors.all), std::max(greatest.worst, errors.worst),
                        std::max(greatest.missing, errors.missing)};
            run.progress().advance(0);
        }
        const std::string at = fmt::format("{:g} dB: ", snr_db);
        table.checks.push_back(at_most(at + "over all surfaces", "voxels", greatest.all, most, expected));
        table.checks.push_back(at_most(at + "worst surface", "voxels", greatest.worst, most_of_worst, expected_worst));
        table.checks.push_back(at_most(at + "positions without a surface", "", greatest.missing, most_missing));
    }
    return table;
}

// ---- Validates speckle filters against the mean of many realisations of speckle. Measures both contrast and edges,
// because blur alone can raise contrast.

namespace {

constexpr Size3 size{128, 96, 24};
constexpr double scene_snr_db = 25;
constexpr std::int64_t flat_margin = 5;  // rows of the flat layer excluded at its boundaries
constexpr std::size_t flat_above = 8, flat_below = 9;

using Powers = std::vector<float>;

// Returns a retina with a dark tube across B-scans and a bright fibre.
LayeredScene painted_scene() {
    LayeredScene scene = painted_retina(size, 5, 0);
    for (std::int64_t line = 0; line < scene.lines(); ++line) {
        for (std::int64_t z = 0; z < size[0]; ++z) {
            const std::int64_t a = line % size[1];
            float& power = scene.intensity[index(line * size[0] + z)];
            if ((a - 70) * (a - 70) + (z - 60) * (z - 60) < 16) power = 0.005f;
            if (std::abs(a - 30) < 2 && std::abs(z - 95) < 2) power = 3;
        }
    }
    return scene;
}

// Returns the painted scene with new speckle.
Powers realisation(const LayeredScene& painted, unsigned seed) {
    LayeredScene scene = painted;
    std::mt19937 random(seed);
    add_speckle(scene, scene_snr_db, random);
    return std::move(scene.intensity);
}

// Returns power in dB over a range of 40 dB, as a display shows it.
Powers shown(const Powers& power) {
    Powers db(power.size());
    for (std::size_t i = 0; i < power.size(); ++i)
        db[i] = std::clamp(10 * std::log10(std::max(power[i], 1e-9f)), -30.0f, 10.0f) + 30;
    return db;
}

constexpr double db_range = 40;

// Both in dB over db_range.
double psnr_db(const Powers& found, const Powers& truth) {
    double square = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
        square += std::pow(static_cast<double>(found[i]) - static_cast<double>(truth[i]), 2);
    return 20 * std::log10(db_range / std::sqrt(square / static_cast<double>(found.size())));
}

// Returns the structural similarity of the central B-scan (Z. Wang et al., IEEE TIP 13, 600, 2004), with Gaussian
// windows of sigma 1.5.
double ssim(const Powers& found, const Powers& truth) {
    const Size3 slice{size[0], size[1], 1};
    const std::int64_t voxels = size[0] * size[1], begin = size[2] / 2 * voxels;
    const Powers a(found.begin() + begin, found.begin() + begin + voxels);
    const Powers b(truth.begin() + begin, truth.begin() + begin + voxels);
    const auto mean = [&](const auto& value) {
        Powers values(a.size());
        for (std::size_t i = 0; i < a.size(); ++i) values[i] = value(a[i], b[i]);
        smooth(values, slice, {1.5, 1.5, 0});
        return values;
    };
    const Powers mean_a = mean([](float x, float) { return x; }), mean_b = mean([](float, float y) { return y; }),
                 aa = mean([](float x, float) { return x * x; }), bb = mean([](float, float y) { return y * y; }),
                 ab = mean([](float x, float y) { return x * y; });
    constexpr double c1 = 0.01 * 0.01 * db_range * db_range, c2 = 0.03 * 0.03 * db_range * db_range;
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto x = static_cast<double>(mean_a[i]), y = static_cast<double>(mean_b[i]);
        const double var_x = static_cast<double>(aa[i]) - x * x, var_y = static_cast<double>(bb[i]) - y * y,
                     both = static_cast<double>(ab[i]) - x * y;
        sum += (2 * x * y + c1) * (2 * both + c2) / ((x * x + y * y + c1) * (var_x + var_y + c2));
    }
    return sum / static_cast<double>(a.size());
}

// Returns the equivalent number of looks, mean^2 / variance, in the layer below the pigment epithelium.
double looks(const Powers& power, const LayeredScene& scene) {
    double sum = 0, square = 0, count = 0;
    for (std::int64_t line = 0; line < scene.lines(); ++line) {
        const auto i = index(line);
        const auto begin = static_cast<std::int64_t>(scene.boundaries[flat_above][i]) + flat_margin + 1;
        const auto end = static_cast<std::int64_t>(scene.boundaries[flat_below][i]) - flat_margin;
        if (std::abs(line % size[1] - 30) <= 10) continue;  // exclude the fibre
        for (std::int64_t z = begin; z < end; ++z) {
            const auto value = static_cast<double>(power[index(line * size[0] + z)]);
            sum += value;
            square += value * value;
            ++count;
        }
    }
    const double mean = sum / count;
    return mean * mean / (square / count - mean * mean);
}

// Returns the number of rows in which the mean profile across the top boundary rises from 10 to 90 %.
double edge_rows(const Powers& power, const LayeredScene& scene) {
    constexpr std::int64_t reach = 12;
    std::array<double, 2 * reach> profile{};
    for (std::int64_t b = 2; b < size[2] - 2; ++b) {
        for (std::int64_t a = 4; a < size[1] - 4; ++a) {
            const std::int64_t line = b * size[1] + a;
            const std::int64_t at = std::lround(scene.boundaries[0][index(line)]);
            for (std::int64_t i = 0; i < 2 * reach; ++i)
                profile[index(i)] += static_cast<double>(power[index(line * size[0] + at - reach + i)]);
        }
    }
    const auto mean = [&](std::size_t begin, std::size_t end) {
        double sum = 0;
        for (std::size_t i = begin; i < end; ++i) sum += profile[i] / static_cast<double>(end - begin);
        return sum;
    };
    const double low = mean(0, 6), high = mean(14, 17);
    const auto crossing = [&](double share) {
        const double level = low + share * (high - low);
        for (std::size_t i = 4; i + 1 < 17; ++i) {
            if (profile[i + 1] > level)
                return static_cast<double>(i) + (level - profile[i]) / (profile[i + 1] - profile[i]);
        }
        return 17.0;
    };
    return crossing(0.9) - crossing(0.1);
}

struct FilterQuality {
    double looks, psnr_db, ssim, edge;
};

class Judge {
  public:
    Judge(const LayeredScene& scene, const Powers& truth) : scene_(scene), truth_(shown(truth)) {}

    FilterQuality operator()(const Powers& power) const {
        const Powers db = shown(power);
        return {looks(power, scene_), psnr_db(db, truth_), ssim(db, truth_), edge_rows(power, scene_)};
    }

  private:
    const LayeredScene& scene_;
    Powers truth_;
};

Powers blurred(Powers power, double sigma) {
    smooth(power, size, {sigma, sigma, sigma});
    return power;
}

// A filter with its expected result.
struct FilterExpectation {
    std::string name;
    SpeckleFilter filter;
    FilterQuality expected;
};

SpeckleFilter median(std::int64_t edge) {
    SpeckleFilter filter;
    filter.method = FilterMethod::median;
    filter.median_size = edge;
    return filter;
}

SpeckleFilter nlm(std::int64_t lateral, std::int64_t across, std::int64_t patch, double strength) {
    SpeckleFilter filter;
    filter.search_depth = filter.search_a_scans = lateral;
    filter.search_b_scans = across;
    filter.patch = patch;
    filter.strength = strength;
    return filter;
}

// Expected values are those of a float64 model of another scene of the same kind.
std::vector<FilterExpectation> wanted_filters() {
    SpeckleFilter bilateral;
    bilateral.method = FilterMethod::bilateral;
    return {{"median 3 x 3 x 3", median(3), {2.3, 24.6, 0.61, 2.73}},
            {"median 5 x 5 x 5", median(5), {6.3, 26.5, 0.77, 3.09}},
            {"bilateral, sigma 2, 4 dB", bilateral, {7.2, 27.5, 0.79, 2.70}},
            {"non-local means 7 x 7 x 3, patch 3, h 0.2", nlm(7, 3, 3, 0.2), {6.7, 27.1, 0.77, 2.43}},
            {"non-local means 7 x 7 x 3, patch 5, h 0.1", nlm(7, 3, 5, 0.1), {7.9, 27.6, 0.79, 2.42}},
            {"non-local means 11 x 11 x 7, patch 5, h 0.1", nlm(11, 7, 5, 0.1), {20.7, 28.6, 0.83, 2.35}}};
}

void add_row(CheckTable& table, const std::string& name, const FilterQuality& found,
             const std::optional<FilterQuality>& expected) {
    const auto value = [&](double FilterQuality::*member) {
        return expected ? std::optional((*expected).*member) : std::nullopt;
    };
    table.checks.push_back(reported(name + ": ENL", "", found.looks, value(&FilterQuality::looks)));
    table.checks.push_back(reported(name + ": PSNR", "dB", found.psnr_db, value(&FilterQuality::psnr_db)));
    table.checks.push_back(reported(name + ": SSIM", "", found.ssim, value(&FilterQuality::ssim)));
    table.checks.push_back(reported(name + ": edge", "voxels", found.edge, value(&FilterQuality::edge)));
}

// Returns the best result over all widths of a Gaussian.
FilterQuality best_gaussian(const Powers& power, const Judge& judge) {
    FilterQuality best{};
    for (double sigma = 0.5; sigma < 1.6; sigma += 0.1) {
        const FilterQuality found = judge(blurred(power, sigma));
        if (found.psnr_db > best.psnr_db) best = found;
    }
    return best;
}

}  // namespace

CheckTable validated_filters(ValidationRun& run) {
    constexpr double over_raw_db = 3.5, over_gaussian_db = 2.5, wider = 1;
    const int realisations = run.quick() ? 16 : 64;
    CheckTable table{"Speckle filters",
                     fmt::format("A painted retina of 128 x 96 x 24 voxels with a vessel and a fibre, {:g} dB, against "
                                 "the mean of {} realisations. PSNR and SSIM over 40 dB;\nENL: mean^2 / variance in a "
                                 "flat layer; edge: 10 to 90 % across the uppermost boundary.",
                                 scene_snr_db, realisations),
                     {}};
    const LayeredScene scene = painted_scene();
    Powers truth(scene.intensity.size());
    for (int i = 0; i < realisations; ++i) {
        const Powers one = realisation(scene, 100 + static_cast<unsigned>(i));
        for (std::size_t v = 0; v < truth.size(); ++v) truth[v] += one[v] / static_cast<float>(realisations);
        run.progress().advance(0);
    }
    const Powers raw = realisation(scene, 1);
    const Judge judge(scene, truth);
    const FilterQuality of_raw = judge(raw), gaussian = best_gaussian(raw, judge);
    add_row(table, "unfiltered", of_raw, FilterQuality{0.95, 17.6, 0, 2.23});
    table.checks.erase(table.checks.end() - 2);  // the model has no SSIM for it
    add_row(table, "the best Gaussian of any width", gaussian, {});
    FilterQuality best{};
    for (const FilterExpectation& wanted : wanted_filters()) {
        SilentProgress silent;
        const FilterQuality found = judge(filtered(raw, size, wanted.filter, silent));
        add_row(table, wanted.name, found, wanted.expected);
        best = found;  // the last filter is the default
        run.progress().advance(0);
    }
    table.checks.push_back(
        at_least("the default over the unfiltered volume", "dB", best.psnr_db - of_raw.psnr_db, over_raw_db));
    table.checks.push_back(
        at_least("the default over the best Gaussian", "dB", best.psnr_db - gaussian.psnr_db, over_gaussian_db));
    table.checks.push_back(at_most("edges, by how much wider", "voxels", best.edge - of_raw.edge, wider));
    return table;
}

// ---- Validates angiography of repeats with tissue motion, by the contrast of vessels to static tissue.

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
struct ContrastResult {
    double raw = 0;  // max contrast of unaligned amplitudes
    double contrast = 1e9, still = 0;
};

// Measures all seeds at one amplitude of motion.
ContrastResult found_at(double motion_um, unsigned seeds) {
    ContrastResult all;
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
    const ContrastResult still = found_at(0, seeds);
    table.checks.push_back(at_least("at rest, aligned: contrast", "", still.contrast, 14.8, 14.8));
    table.checks.push_back(at_most("at rest: static tissue shown as flow", "", still.still, 0.02, 0.007));
    for (const auto& [um, expected] : {std::pair{1.0, 11.5}, std::pair{3.0, 5.7}}) {
        const ContrastResult moved = found_at(um, seeds);
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

// ---- Validates Doppler velocities against those of a moving reflector (docs/algorithms.md 5.1).

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
            const double distance_um = velocity * 1000 * static_cast<double>(line) / line_rate_hz;
            const auto fringe = instrument.fringe(instrument.depth_of(bin) + refractive_index * distance_um);
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
            return static_cast<double>(static_cast<std::int8_t>(block.flow[index(at)]));
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
