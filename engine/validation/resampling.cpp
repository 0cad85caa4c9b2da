// Validations with mirrors: the resampling methods and the response of each to a fringe, simulated mirrors, and
// recorded ones.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "assets/table.h"
#include "compute/calibrate/calibrate.h"
#include "compute/calibrate/mirrors.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/methods/defr.h"
#include "compute/plan/choices.h"
#include "compute/plan/cubic.h"
#include "compute/plan/params.h"
#include "compute/plan/tables.h"
#include "engine/scan/scan.h"
#include "engine/validation/scenes.h"
#include "engine/validation/validation.h"

namespace echolux {

// ---- Resampling methods that a validation compares, and the closed-form response of each to a fringe
// (docs/algorithms.md 3.1).

inline constexpr std::array published_depths{0.05, 0.2, 0.4, 0.6, 0.7};  // relative to the depth range

// A resampling method and what is known about it.
struct ResamplingMethod {
    std::string name;
    Resample resample;
    std::int64_t upsample;
    double (*response)(double f);      // f in cycles per sample of the upsampled spectrum
    std::vector<double> artefacts_db;  // published, for a mirror at each of published_depths; may be empty

    // Returns the response to a fringe of `f` cycles per original sample.
    double left_of(double f) const { return response(f / static_cast<double>(upsample)); }
    // Sets the method in a recipe.
    void choose_in(Recipe& recipe) const;
};

// Returns all compared methods.
const std::vector<ResamplingMethod>& resampling_methods();

// Returns the methods of the axial response table: linear, Lagrange-3, spline, linear after upsampling by two, NUFFT,
// exact.
std::vector<ResamplingMethod> axial_methods();

// ---- Computes the error of interpolation for a mirror at the true sample positions of an instrument, by explicit sums
// over the grid with the weights of each interpolation. The closed-form response (docs/algorithms.md 3.1) is a mean
// over all positions of a grid point between two samples. It does not apply where the k map is stationary relative to
// the samples, because then only few positions occur.

// Weights of the samples from `first` on, relative to the last sample before the position.
struct InterpolationWeights {
    std::int64_t first = 0;
    std::vector<double> weights;
};

// Returns the weights at 0 <= t < 1 beyond a sample. For methods that do not interpolate, only that sample has a
// weight.
InterpolationWeights interpolation_weights(Resample resample, double t);

// A fringe at `bin` under an envelope, interpolated onto a grid of `length` points.
class InterpolatedFringe {
  public:
    InterpolatedFringe(const ResamplingMethod& method, const Envelope& envelope, double bin, double length);

    // Returns |sum_j w_j sum_m M_m(t_j) exp(2 pi i (x_{j,m} - j) bin / length)| / sum_j w_j: the amplitude of the peak
    // relative to that of an exact transform. j are grid points, w the envelope there, and x the positions of the
    // samples that M weights.
    double level() const;

    // Returns the largest bin from `begin` on outside the main lobe, relative to the peak, in dB.
    double side_lobe_db(double main_lobe_bins, std::int64_t begin) const;

  private:
    std::complex<double> transformed(double bin) const;  // transform of the real fringe, times two

    double bin_, length_, first_ = 0, whole_ = 0;
    std::vector<std::complex<double>> on_grid_;  // values from grid point `first_` on
};

namespace {

using std::numbers::pi;

double sinc(double x) {
    return x == 0 ? 1 : std::sin(pi * x) / (pi * x);
}

double square(double x) {
    return x * x;
}

// Responses of the interpolations to a fringe of f cycles per sample (docs/algorithms.md 3.1).
double of_nearest(double f) {
    return sinc(f);
}

double of_linear(double f) {
    return square(sinc(f));
}

// Closed form for R. G. Keys, IEEE Trans. Acoust. Speech Signal Process. 29, 1153 (1981), a = -1/2.
double of_catmull_rom(double f) {
    if (f == 0) return 1;
    const double first = square(sinc(f)) - sinc(2 * f);
    return (3 * first - (3 * square(sinc(2 * f)) - 2 * sinc(2 * f) - sinc(4 * f))) / square(pi * f);
}

double of_lagrange3(double f) {
    return square(square(sinc(f))) * (1 + square(2 * pi * f) / 6);
}

double of_spline(double f) {
    return 3 * square(square(sinc(f))) / (2 + std::cos(2 * pi * f));
}

double exactly(double) {
    return 1;
}

}  // namespace

void ResamplingMethod::choose_in(Recipe& recipe) const {
    recipe.resample = resample;
    recipe.upsample = upsample;
}

const std::vector<ResamplingMethod>& resampling_methods() {
    static const std::vector<ResamplingMethod> methods{
        {"nearest", Resample::nearest, 1, of_nearest, {-42.2, -32.5, -26.7, -22.7, -21.2}},
        {"linear", Resample::linear, 1, of_linear, {-73.4, -53.1, -40.1, -31.6, -28.1}},
        {"Catmull-Rom", Resample::catmull_rom, 1, of_catmull_rom, {-98.7, -67.4, -48.6, -37.0, -32.2}},
        {"Lagrange-3", Resample::lagrange3, 1, of_lagrange3, {-114.9, -76.0, -52.1, -38.1, -32.8}},
        {"spline", Resample::spline, 1, of_spline, {-117.6, -92.9, -66.2, -48.0, -40.2}},
        {"up-sampled by 2, linear", Resample::linear, 2, of_linear, {-88.8, -66.6, -56.2, -49.0, -45.7}},
        {"up-sampled by 4, linear", Resample::linear, 4, of_linear, {-102, -78.9, -69.6, -61.5, -57.7}},
        {"up-sampled by 2, Lagrange-3", Resample::lagrange3, 2, of_lagrange3, {-107, -101, -79.0, -65.3, -59.3}},
        {"NUFFT", Resample::nufft, 1, exactly, {}},
        {"exact NUDFT", Resample::nudft, 1, exactly, {-118, -119, -117, -116, -115}},
    };
    return methods;
}

std::vector<ResamplingMethod> axial_methods() {
    const std::vector<ResamplingMethod>& all = resampling_methods();
    return {all[1], all[3], all[4], all[5], all[8], all[9]};
}

namespace {

// Cubic B-spline.
double b_spline(double x) {
    x = std::abs(x);
    if (x < 1) return 2.0 / 3 - x * x + x * x * x / 2;
    return x < 2 ? std::pow(2 - x, 3) / 6 : 0;
}

// Returns the weights of the spline through all samples, which change by a factor of sqrt(3) - 2 per sample (M. Unser,
// IEEE Signal Process. Mag. 16(6), 1999).
InterpolationWeights spline_weights(double t) {
    constexpr std::int64_t reach = 12;
    const double fall = std::numbers::sqrt3 - 2;
    InterpolationWeights found{-reach, {}};
    for (std::int64_t m = -reach; m <= reach + 1; ++m) {
        double weight = 0;
        for (std::int64_t k = -1; k <= 2; ++k) {
            const auto distance = static_cast<double>(std::abs(k - m));
            weight += std::numbers::sqrt3 * std::pow(fall, distance) * b_spline(t - static_cast<double>(k));
        }
        found.weights.push_back(weight);
    }
    return found;
}

// Samples of the envelope in ascending order of their position on the k grid.
struct Samples {
    std::vector<double> place;  // on the grid, ascending
    std::vector<double> light;  // light times window: the envelope without the share of the grid
};

// Divides the envelope by each sample's share of the grid, which interpolation does not weight.
Samples samples_of(const Envelope& envelope) {
    Samples samples{envelope.points, envelope.weights};
    const std::vector<double> share = share_of_grid(envelope.points);
    for (std::size_t p = 0; p < share.size(); ++p) samples.light[p] /= share[p];
    if (samples.place.front() > samples.place.back()) {
        std::ranges::reverse(samples.place);
        std::ranges::reverse(samples.light);
    }
    return samples;
}

}  // namespace

InterpolationWeights interpolation_weights(Resample resample, double t) {
    const double t2 = t * t, t3 = t2 * t;
    switch (resample) {
        case Resample::nearest: return t < 0.5 ? InterpolationWeights{0, {1}} : InterpolationWeights{1, {1}};
        case Resample::linear: return {0, {1 - t, t}};
        case Resample::catmull_rom:
            return {-1, {(-t3 + 2 * t2 - t) / 2, (3 * t3 - 5 * t2 + 2) / 2, (-3 * t3 + 4 * t2 + t) / 2, (t3 - t2) / 2}};
        case Resample::lagrange3:
            return {-1,
                    {-t * (t - 1) * (t - 2) / 6, (t + 1) * (t - 1) * (t - 2) / 2, -(t + 1) * t * (t - 2) / 2,
                     (t + 1) * t * (t - 1) / 6}};
        case Resample::spline: return spline_weights(t);
        default: return {0, {1}};
    }
}

InterpolatedFringe::InterpolatedFringe(const ResamplingMethod& method, const Envelope& envelope, double bin,
                                       double length)
    : bin_(bin), length_(length) {
    const Samples samples = samples_of(envelope);
    std::vector<double> counted(samples.place.size());
    std::iota(counted.begin(), counted.end(), 0.0);
    const CubicSpline sample_at(samples.place, counted), place_at(counted, samples.place);
    const auto fine = static_cast<double>(method.upsample);
    first_ = std::ceil(samples.place.front());
    for (double j = first_; j < std::min(samples.place.back(), length); ++j) {
        const double sample = std::clamp(sample_at(j), 0.0, counted.back() - 1e-9), before = std::floor(sample * fine);
        const auto left = static_cast<std::size_t>(sample);
        const double light = std::lerp(samples.light[left], samples.light[left + 1], sample - std::floor(sample));
        const InterpolationWeights at = interpolation_weights(method.resample, sample * fine - before);
        std::complex<double> value;
        for (std::size_t m = 0; m < at.weights.size(); ++m) {
            const double place = (before + static_cast<double>(at.first) + static_cast<double>(m)) / fine;
            const double turn = 2 * std::numbers::pi * bin / length * place_at(std::clamp(place, 0.0, counted.back()));
            value += at.weights[m] * std::polar(1.0, turn);
        }
        on_grid_.push_back(light * value);
        whole_ += light;
    }
}

double InterpolatedFringe::level() const {
    const std::complex<double> step = std::polar(1.0, -2 * std::numbers::pi * bin_ / length_);
    std::complex<double> sum, turn = std::polar(1.0, -2 * std::numbers::pi * bin_ / length_ * first_);
    for (const std::complex<double>& value : on_grid_) {
        sum += value * turn;
        turn *= step;
    }
    return std::abs(sum) / whole_;
}

double InterpolatedFringe::side_lobe_db(double main_lobe_bins, std::int64_t begin) const {
    double max = 0;
    for (auto z = static_cast<double>(begin); z < length_ / 2; ++z) {
        if (std::abs(z - bin_) >= main_lobe_bins) max = std::max(max, std::abs(transformed(z)));
    }
    return decibels(max / std::abs(transformed(bin_)));
}

std::complex<double> InterpolatedFringe::transformed(double bin) const {
    const std::complex<double> step = std::polar(1.0, -2 * std::numbers::pi * bin / length_);
    std::complex<double> sum, turn = 2;
    for (const std::complex<double>& value : on_grid_) {
        sum += value.real() * turn;
        turn *= step;
    }
    return sum;
}

namespace {

constexpr auto length = static_cast<double>(ModelInstrument::samples);

// Returns the limit of the arithmetic: f32 throughout, or the operands of a matrix product on tensor cores, whose
// errors are about 90 dB below a lone peak (docs/algorithms.md 4.2).
double arithmetic_floor_db(const ResamplingMethod& method) {
    return method.resample == Resample::nudft ? -80 : -105;
}

struct MirrorFit {
    double loss_db, artefact_db, misplaced_bins;
};

// Mirrors of the model instrument at several depths.
class Mirrors {
  public:
    explicit Mirrors(ValidationRun& run) : run_(run) {
        // Half the mean of window times source: the height of a mirror's peak without loss.
        const double sum_of_hann = (length - 1) / 2;
        whole_ = std::accumulate(envelope.weights.begin(), envelope.weights.end(), 0.0) / sum_of_hann / 2;
    }

    MirrorFit at(const ResamplingMethod& method, double share_of_range) const {
        const double depth_um = share_of_range * instrument.depth_limit_um();
        const std::vector<float> line = instrument.fringe(depth_um);
        ReconstructionSpec spec = instrument.spec(1);
        method.choose_in(spec.recipe);
        const std::vector<double> profile = run_.amplitudes(spec, line);
        spec.recipe.zero_padding = 4;
        const PointResponse peak = point_response(run_.amplitudes(spec, line), 4, main_lobe_bins);
        return {decibels(peak.height / whole_), worst_artefact_db(profile, 30),
                std::abs(peak.bin - instrument.bin_of(depth_um))};
    }

    double expected_loss_db(const ResamplingMethod& method, double share_of_range) const {
        return decibels(envelope.mean_response(instrument.bin_of(share_of_range * instrument.depth_limit_um()), length,
                                               [&](double f) { return method.left_of(f); }));
    }

    const ModelInstrument instrument;
    const Envelope envelope = envelope_of(instrument);
    const double main_lobe_bins = envelope.main_lobe_bins(length);

  private:
    ValidationRun& run_;
    double whole_;
};

}  // namespace

std::vector<CheckTable> validated_resampling(ValidationRun& run) {
    CheckTable loss{
        "Roll-off of resampling",
        "The model instrument (2048 samples, 845 nm, 105 nm), a mirror at parts of the depth range. Expected: "
        "the interpolation's response\nH(f) in closed form, averaged over window, source and local sampling "
        "of k.",
        {}};
    CheckTable artefact{
        "Artefacts of resampling",
        "The same mirrors: the highest amplitude farther than 30 bins from the peak. Expected: a float64 "
        "model. The NUFFT's are its kernel's error: table NUFFT.",
        {}};
    CheckTable place{"Position of a mirror", "The same mirrors: the largest error of a mirror's position.", {}};
    const Mirrors mirrors(run);
    for (const ResamplingMethod& method : resampling_methods()) {
        double farthest = 0;
        for (std::size_t i = 0; i < published_depths.size(); ++i) {
            if (run.quick() && i % 2 == 0) continue;
            const MirrorFit found = mirrors.at(method, published_depths[i]);
            const std::string what = fmt::format("{}, {:.2f} of the range", method.name, published_depths[i]);
            loss.checks.push_back(
                near(what, "dB", found.loss_db, mirrors.expected_loss_db(method, published_depths[i]), 0.1));
            farthest = std::max(farthest, found.misplaced_bins);
            if (method.artefacts_db.empty()) continue;
            const double expected_db = method.artefacts_db[i];
            artefact.checks.push_back(at_most(what, "dB", found.artefact_db,
                                              std::max(expected_db + 3, arithmetic_floor_db(method)), expected_db));
        }
        place.checks.push_back(at_most(method.name, "bins", farthest, 0.02, 0));
    }
    return {loss, artefact, place};
}

// ---- Validates width and side lobes of a mirror at the centre of the depth range and of a deep one.

constexpr std::array<std::size_t, 2> depths{2, 4};  // indices of published_depths

CheckTable validated_axial_response(ValidationRun& run, AxialTable& axial) {
    CheckTable table{
        "Axial response",
        "The model instrument, a mirror at 0.4 and 0.7 of the range, Hann window. Expected: the sum of window "
        "times source over the true wavenumbers;\nside lobes: those, or the published artefact of the "
        "interpolation where that is higher; the NUFFT's kernel has a separate table.",
        {}};
    const ModelInstrument instrument;
    const Envelope envelope = envelope_of(instrument);
    constexpr auto length = static_cast<double>(ModelInstrument::samples);
    const double expected_fwhm = envelope.fwhm(length), ideal_db = envelope.side_lobe_db(length);
    const double main_lobe_bins = envelope.main_lobe_bins(length);
    table.basis += fmt::format(" The main lobe ends at {:.3f} bins, the first minimum of that sum.", main_lobe_bins);
    for (const ResamplingMethod& method : axial_methods()) axial.rows.push_back({method.name, {}});
    for (const std::size_t depth : depths) {
        const std::string place = fmt::format("{} of the range", published_depths[depth]);
        const std::vector<float> line = instrument.fringe(published_depths[depth] * instrument.depth_limit_um());
        axial.mirrors.push_back("simulated, " + place);
        for (std::size_t i = 0; i < axial.rows.size(); ++i) {
            const ResamplingMethod method = axial_methods()[i];
            ReconstructionSpec spec = instrument.spec(1);
            method.choose_in(spec.recipe);
            spec.recipe.zero_padding = 4;
            const PointResponse found = point_response(run.amplitudes(spec, line), 4, main_lobe_bins);
            const std::string what = method.name + ", " + place;
            table.checks.push_back(near(what + ": FWHM", "bins", found.fwhm_bins, expected_fwhm, 0.01 * expected_fwhm));
            axial.rows[i].cells.push_back({found.fwhm_bins, found.side_lobe_db});
            if (method.artefacts_db.empty()) continue;
            const double expected_db = std::max(ideal_db, method.artefacts_db[depth]);
            table.checks.push_back(
                at_most(what + ": side lobes", "dB", found.side_lobe_db, expected_db + 3, expected_db));
        }
    }
    return table;
}

// ---- Validates the NUFFT against the sum that it approximates (docs/transforms.md 7).

constexpr std::int64_t n = ModelInstrument::samples;

constexpr std::array kernels{GridKernel::gaussian, GridKernel::kaiser_bessel, GridKernel::exponential};
constexpr std::array kernel_names{"Gaussian", "Kaiser-Bessel", "exponential"};

// Returns the rounding error of floats. It is larger for coarse grids, which divide by small numbers.
static double float_floor(double oversampling) {
    return oversampling >= 2 ? 3e-7 : oversampling >= 1.5 ? 6e-7 : 6e-6;
}

// Returns the sum over the samples' true wavenumbers, each weighted by its share of the grid.
static std::vector<std::complex<double>> direct_sum(const ModelInstrument& instrument, const std::vector<float>& line) {
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

// Returns the relative l2 error.
static double relative_error(const std::vector<std::complex<float>>& found,
                             const std::vector<std::complex<double>>& truth) {
    double error = 0, all = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        error += std::norm(std::complex<double>(found[i]) - truth[i]);
        all += std::norm(truth[i]);
    }
    return std::sqrt(error / all);
}

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

// ---- Validates reconstructions of mirrors recorded with a real instrument: their sharpness for each resampling
// method, the loss and artefacts of interpolation, and the suppression of false images by full range. Expected values
// are computed from the calibration and the recorded light.

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
    mirror.lines.resize(index(reader.bytes_per_b_scan()));
    reader.read(0, 0, 1, mirror.lines);
    mirror.lines.resize(index(mirror.spec.geometry.a_scans * line_bytes(scan.format, scan.geometry)));

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
    std::vector<float> power(index(block.grid.voxels()));
    std::memcpy(power.data(), block.structure.data(), block.structure.size());
    std::vector<double> profile(index(block.grid.depth));
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
