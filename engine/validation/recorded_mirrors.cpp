// Validates reconstructions of mirrors recorded with a real instrument: their sharpness for each resampling method, the
// loss and artefacts of interpolation, and the suppression of false images by full range. Expected values are computed
// from the calibration and the recorded light.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>

#include "compute/calibrate/calibrate.h"
#include "compute/calibrate/mirrors.h"
#include "compute/error.h"
#include "compute/methods/defr.h"
#include "compute/plan/choices.h"
#include "compute/plan/tables.h"
#include "engine/scan/scan.h"
#include "engine/validation/model_instrument.h"
#include "engine/validation/resampling.h"
#include "engine/validation/topics.h"

namespace echolux {
namespace {

struct RecordedMirror {
    std::string name, file;
    ReconstructionSpec spec;  // reconstructs some lines to the depth profile, without averaging and cropping
    std::vector<std::byte> lines;
    std::vector<float> fringe;  // counts of the first line minus background
    double bin = 0;             // position found by the exact transform
    double snr_db = 0;          // SNR of one line
};

// Returns the spec of a scan's first B-scan in acquisition order, without reordering or depth flip.
ReconstructionSpec spec_of(const Scan& scan) {
    constexpr std::int64_t max_lines = 128;
    ReconstructionSpec spec = scan.spec(1);
    spec.geometry = {};
    spec.geometry.samples = scan.geometry.samples;
    spec.geometry.a_scans = std::min(max_lines, scan.geometry.lines_per_b_scan());
    spec.geometry.b_scans = 1;
    spec.calibration.noise_floor.clear();
    spec.calibration.fast_axis.clear();
    spec.calibration.k_jitter.clear();
    spec.flow = {};
    Recipe recipe = scan.recipe;
    recipe.method = Method::plain;
    recipe.background = Background::stored;
    recipe.fixed_pattern = FixedPattern::none;
    recipe.upsample_pad = false;
    recipe.zero_padding = points_per_bin;
    recipe.depth_begin = recipe.depth_end = 0;
    recipe.average = Average::none;
    recipe.noise_floor = NoiseFloor::none;
    recipe.quantity = Quantity::intensity;
    recipe.voxel = VoxelType::f32;
    recipe.levels = Levels::fixed;
    spec.recipe = recipe;
    return spec;
}

// Returns the mirror of a scan. Throws if the scan has no k map or no background.
RecordedMirror opened(const std::filesystem::path& path, const std::vector<std::string>& settings) {
    const Scan scan = open_scan(path, settings);
    const bool mapped = chosen_resample({.resample = Resample::linear}, scan.calibration) != Resample::none;
    const std::string where = path.string();
    if (!mapped || scan.calibration.background.empty()) {
        throw Error(ErrorCode::bad_setting, mapped ? "a mirror needs its background" : "a mirror needs the k map",
                    where + ": calibration." + (mapped ? "background" : "k_map"),
                    mapped ? "name the spectrum with the sample arm blocked" : "or give calibration.wavelengths");
    }
    RecordedMirror mirror{path.stem() == "scan" ? path.parent_path().filename().string() : path.stem().string(),
                          where,
                          spec_of(scan),
                          {},
                          {}};
    SpectraReader reader(scan);
    mirror.lines.resize(static_cast<std::size_t>(reader.bytes_per_b_scan()));
    reader.read(0, 0, 1, mirror.lines);
    mirror.lines.resize(
        static_cast<std::size_t>(mirror.spec.geometry.a_scans * line_bytes(scan.format, scan.geometry)));

    Block block;
    block.data = mirror.lines.data();
    block.bytes = std::ssize(mirror.lines);
    block.b_scans = 1;
    SpectrumSurvey first(mirror.spec.format, mirror.spec.geometry);
    first.add(block, {0, 1});
    const std::vector<double> counts = first.mean();
    for (std::size_t p = 0; p < counts.size(); ++p) {
        mirror.fringe.push_back(static_cast<float>(counts[p] - mirror.spec.calibration.background[p]));
    }
    return mirror;
}

// Returns the root of the mean power over the lines.
std::vector<double> profile_of(ValidationRun& run, const RecordedMirror& mirror, const ResamplingMethod& method) {
    ReconstructionSpec spec = mirror.spec;
    method.choose_in(spec.recipe);
    const ReconstructedBlock block = run.reconstructed(spec, mirror.lines);
    std::vector<float> power(static_cast<std::size_t>(block.grid.voxels()));
    std::memcpy(power.data(), block.structure.data(), block.structure.size());
    std::vector<double> profile(static_cast<std::size_t>(block.grid.depth));
    for (std::size_t i = 0; i < power.size(); ++i) profile[i % profile.size()] += double{power[i]};
    for (double& value : profile) value = std::sqrt(value / static_cast<double>(block.grid.a_scans));
    return profile;
}

// Measures the peak beyond zero delay.
PointResponse response_in(const std::vector<double>& profile, double main_lobe_bins) {
    const std::int64_t begin = first_row_past_zero_delay(std::ssize(profile));
    return point_response(profile, static_cast<double>(points_per_bin), main_lobe_bins, begin);
}

// Returns light times window on the k grid.
Envelope envelope_of(const ReconstructionSpec& spec) {
    const KGrid grid = k_grid(spec.calibration, spec.geometry.samples);
    const SpectrumPoints points = points_of_samples(spec.calibration, grid);
    const std::vector<double> share = share_of_grid(points.on_grid);
    const auto weights = spectral_weight_at(points, spec.recipe, spec.calibration, grid);
    const double end = static_cast<double>(spec.geometry.samples) - 0.5;
    Envelope envelope{points.on_grid, {}};
    for (std::size_t p = 0; p < share.size(); ++p) {
        const double dark = spec.calibration.dark.empty() ? 0 : spec.calibration.dark[p];
        const double light = std::max(0.0, spec.calibration.background[p] - dark);
        const bool on_grid = envelope.points[p] >= -0.5 && envelope.points[p] <= end;
        envelope.weights.push_back(on_grid ? std::abs(weights[p]) * light * share[p] : 0);
    }
    return envelope;
}

// Adds width, side lobes and level of one mirror for each method.
void add_checks(CheckTable& table, ValidationRun& run, RecordedMirror& mirror, AxialTable& axial) {
    const auto samples = static_cast<double>(mirror.spec.geometry.samples);
    const Envelope envelope = envelope_of(mirror.spec);
    const double expected_fwhm = envelope.fwhm(samples), main_lobe_bins = envelope.main_lobe_bins(samples);
    const std::vector<ResamplingMethod> methods = axial_methods();
    const std::vector<double> exact_profile = profile_of(run, mirror, methods.back());
    mirror.snr_db = required_mirror(exact_profile, mirror.spec.geometry.a_scans, mirror.file).snr_db;
    const PointResponse exact = response_in(exact_profile, main_lobe_bins);
    mirror.bin = exact.bin;
    axial.mirrors.push_back(mirror.name);
    table.basis += fmt::format(" The main lobe of {} ends at {:.3f} bins.", mirror.name, main_lobe_bins);
    for (std::size_t i = 0; i < methods.size(); ++i) {
        const ResamplingMethod& method = methods[i];
        const bool is_exact = i + 1 == methods.size();
        const PointResponse found = is_exact ? exact : response_in(profile_of(run, mirror, method), main_lobe_bins);
        const std::string what = mirror.name + ", " + method.name;
        table.checks.push_back(at_most(what + ": FWHM", "bins", found.fwhm_bins, 1.1 * expected_fwhm, expected_fwhm));
        axial.rows[i].cells.push_back({found.fwhm_bins, found.side_lobe_db});
        if (is_exact) continue;
        if (method.resample == Resample::nufft) {
            table.checks.push_back(
                near(what + ": level beside exact", "dB", decibels(found.height / exact.height), 0, 0.1));
            continue;
        }
        const InterpolatedFringe expected(method, envelope, exact.bin, samples);
        const std::int64_t begin = first_row_past_zero_delay(mirror.spec.geometry.samples / 2);
        const double side_lobe_db = std::max(exact.side_lobe_db, expected.side_lobe_db(main_lobe_bins, begin));
        table.checks.push_back(
            at_most(what + ": side lobes", "dB", found.side_lobe_db, side_lobe_db + 6, side_lobe_db));
        table.checks.push_back(near(what + ": level beside exact", "dB", decibels(found.height / exact.height),
                                    decibels(expected.level()), 0.1));
    }
}

// ---- both sides of zero delay ---------------------------------------------------------------------------------------

// Returns the phase of the sample arm's dispersion.
std::vector<double> theta_of(const RecordedMirror& mirror) {
    return dispersion_phase(mirror.spec.recipe, mirror.spec.calibration,
                            k_grid(mirror.spec.calibration, mirror.spec.geometry.samples));
}

// Returns the spec for full range of a single line, without background subtraction.
ReconstructionSpec full_range_spec(const RecordedMirror& mirror) {
    ReconstructionSpec spec = mirror.spec;
    spec.format = {};
    spec.format.sample_format = SampleFormat::f32;
    spec.geometry.a_scans = 1;
    spec.recipe.method = Method::defr;
    spec.recipe.background = Background::none;
    spec.recipe.resample = Resample::spline;
    spec.recipe.upsample = 1;
    spec.recipe.zero_padding = 1;
    return spec;
}

// Returns the peak around `bin` relative to the false image around -bin, in dB. Zero delay is in the centre.
double suppression_db(const std::vector<double>& profile, std::ptrdiff_t bin) {
    constexpr std::ptrdiff_t around = 6;
    const auto highest = [&](std::ptrdiff_t at) {
        const std::ptrdiff_t middle = std::ssize(profile) / 2 + at;
        const std::ptrdiff_t first = std::clamp<std::ptrdiff_t>(middle - around, 0, std::ssize(profile) - 1);
        const std::ptrdiff_t end = std::clamp<std::ptrdiff_t>(middle + around + 1, first + 1, std::ssize(profile));
        return *std::max_element(profile.begin() + first, profile.begin() + end);
    };
    return decibels(highest(bin) / highest(-bin));
}

// A reflector of a full-range scene.
struct Reflector {
    std::string name;
    std::ptrdiff_t bin;  // negative on the other side of zero delay
    double snr_db;
};

// A line with one or two mirrors.
struct Reflections {
    std::string name;
    std::vector<float> fringe;
    std::vector<Reflector> reflectors;
};

// Returns the mirror alone and, for later mirrors on the other side of zero delay, the sum of both.
std::vector<Reflections> full_range_scenes(const std::vector<RecordedMirror>& mirrors, std::size_t i) {
    const RecordedMirror& mirror = mirrors[i];
    std::vector<Reflections> scenes{
        {mirror.name + " alone", mirror.fringe, {{mirror.name, std::lround(mirror.bin), mirror.snr_db}}}};
    for (const RecordedMirror& other : std::span(mirrors).subspan(i + 1)) {
        if (other.fringe.size() != mirror.fringe.size()) continue;
        const std::vector<double> theta = theta_of(mirror), of_other = theta_of(other);
        if (std::inner_product(theta.begin(), theta.end(), of_other.begin(), 0.0) >= 0) continue;
        Reflections both = scenes.front();
        both.name = mirror.name + " and " + other.name;
        both.reflectors.push_back({other.name, -std::lround(other.bin), other.snr_db});
        for (std::size_t p = 0; p < both.fringe.size(); ++p) both.fringe[p] += other.fringe[p];
        scenes.push_back(both);
    }
    return scenes;
}

// Published for two mirrors on opposite sides with gamma = 0.86: the one farther from zero delay and the nearer one.
struct PublishedSuppression {
    std::int64_t iterations;
    double farther_db, nearer_db;
    double min_farther_db, min_nearer_db;
};

constexpr std::array<PublishedSuppression, 2> published_suppressions{
    {{10, 12.9, 19.3, 12, 19}, {20, 30.5, 30.7, 29, 29}}};

// Applies no bound where the dispersion is weaker than in the publication. Otherwise the bound is limited by noise: the
// maximum of some noise bins of two lines is 13 dB above the mean.
Check suppression_check(std::string what, double found_db, double expected_db, double min_db, double gamma,
                        double snr_db) {
    constexpr double published_gamma = 0.865, noise_margin_db = 13;
    if (gamma > published_gamma) return reported(std::move(what), "dB", found_db, expected_db);
    return at_least(std::move(what), "dB", found_db, std::min(min_db, snr_db - noise_margin_db), expected_db);
}

// Adds the suppression of false images of mirror `i`, alone and together with later mirrors.
void add_full_range(CheckTable& table, ValidationRun& run, const std::vector<RecordedMirror>& mirrors, std::size_t i) {
    constexpr double hopeless = 0.95;  // dispersion is negligible
    const std::vector<double> theta = theta_of(mirrors[i]);
    if (std::ranges::all_of(theta, [](double phase) { return phase == 0; })) return;
    ReconstructionSpec spec = full_range_spec(mirrors[i]);
    const double gamma = defr_tables(spec).gamma;
    if (gamma > hopeless) return;
    for (const Reflections& scene : full_range_scenes(mirrors, i)) {
        for (const PublishedSuppression& published : published_suppressions) {
            spec.defr.iterations = published.iterations;
            const std::vector<double> profile = run.amplitudes(spec, scene.fringe);
            for (const Reflector& reflector : scene.reflectors) {
                const bool is_nearer = std::ranges::any_of(scene.reflectors, [&](const Reflector& other) {
                    return std::abs(other.bin) > std::abs(reflector.bin);
                });
                table.checks.push_back(suppression_check(
                    fmt::format("{} (γ {:.2f}), false image of {} at {}, {} iterations", scene.name, gamma,
                                reflector.name, -reflector.bin, published.iterations),
                    suppression_db(profile, reflector.bin), is_nearer ? published.nearer_db : published.farther_db,
                    is_nearer ? published.min_nearer_db : published.min_farther_db, gamma, reflector.snr_db));
            }
        }
    }
}

}  // namespace

std::vector<CheckTable> validated_mirrors(ValidationRun& run, const std::vector<std::filesystem::path>& scans,
                                          const std::vector<std::string>& settings, AxialTable& axial) {
    CheckTable width{
        "Recorded mirrors",
        "Mean power over the lines of a B-scan. Expected: width: the transform of window times light "
        "(background - dark); side lobes: those of the exact\ntransform, or of "
        "the interpolation where they are higher; that and the level: the interpolation's weights summed over "
        "window, light\nand k map. Side lobes lie beyond the first "
        "minimum of the expected width's transform.",
        {}};
    CheckTable false_images{"Full range of recorded mirrors",
                            "A single line, background subtracted: how far the false image lies below the true one. "
                            "Expected: published for two mirrors at γ = 0.86; bounds:\n12 dB (19 dB of the nearer of "
                            "two) after 10 iterations, 29 dB after 20, at most the mirror's SNR less 13 dB, none above "
                            "γ = 0.86.",
                            {}};
    std::vector<RecordedMirror> mirrors;
    for (const std::filesystem::path& scan : scans) {
        mirrors.push_back(opened(scan, settings));
        add_checks(width, run, mirrors.back(), axial);
    }
    for (std::size_t i = 0; i < mirrors.size(); ++i) add_full_range(false_images, run, mirrors, i);
    std::vector<CheckTable> tables{width};
    if (!false_images.checks.empty()) tables.push_back(false_images);
    return tables;
}

}  // namespace echolux
