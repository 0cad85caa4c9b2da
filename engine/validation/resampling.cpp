// Validates the roll-off and artefacts of interpolation (docs/algorithms.md 3.1).
#include "engine/validation/resampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <random>

#include "assets/table.h"
#include "compute/plan/cubic.h"
#include "engine/validation/model_instrument.h"
#include "engine/validation/topics.h"

namespace echolux {
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

struct FoundMirror {
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

    FoundMirror at(const ResamplingMethod& method, double share_of_range) const {
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
    CheckTable place{
        "Place of a mirror", "The same mirrors: the largest distance between where one is found and where it is.", {}};
    const Mirrors mirrors(run);
    for (const ResamplingMethod& method : resampling_methods()) {
        double farthest = 0;
        for (std::size_t i = 0; i < published_depths.size(); ++i) {
            if (run.quick() && i % 2 == 0) continue;
            const FoundMirror found = mirrors.at(method, published_depths[i]);
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

// Validates width and side lobes of a mirror at the centre of the depth range and of a deep one.

namespace {

constexpr std::array<std::size_t, 2> depths{2, 4};  // indices of published_depths

}  // namespace

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

// Validates the NUFFT against the sum that it approximates (docs/transforms.md 7).

namespace {

constexpr std::int64_t n = ModelInstrument::samples;

constexpr std::array kernels{GridKernel::gaussian, GridKernel::kaiser_bessel, GridKernel::exponential};
constexpr std::array kernel_names{"Gaussian", "Kaiser-Bessel", "exponential"};

// Returns the rounding error of floats. It is larger for coarse grids, which divide by small numbers.
double float_floor(double oversampling) {
    return oversampling >= 2 ? 3e-7 : oversampling >= 1.5 ? 6e-7 : 6e-6;
}

// Returns the sum over the samples' true wavenumbers, each weighted by its share of the grid.
std::vector<std::complex<double>> direct_sum(const ModelInstrument& instrument, const std::vector<float>& line) {
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
double relative_error(const std::vector<std::complex<float>>& found, const std::vector<std::complex<double>>& truth) {
    double error = 0, all = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        error += std::norm(std::complex<double>(found[i]) - truth[i]);
        all += std::norm(truth[i]);
    }
    return std::sqrt(error / all);
}

}  // namespace

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

}  // namespace echolux
