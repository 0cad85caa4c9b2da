#include "engine/validation/scenes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <numeric>
#include <random>
#include <utility>

#include "compute/calibrate/mirrors.h"
#include "compute/indexing.h"
#include "compute/reconstructor.h"
#include "compute/repeat_report.h"
#include "engine/analysis/intensity.h"
#include "engine/validation/validation.h"

namespace echolux {

float NormalNoise::operator()(std::mt19937& random) {
    if (saved_) return static_cast<float>(sigma_ * *std::exchange(saved_, {}));
    const auto uniform = [&] { return std::ldexp(static_cast<double>(random()), -31) - 1; };
    double x = 0, y = 0, square = 0;
    do {
        x = uniform();
        y = uniform();
        square = x * x + y * y;
    } while (square > 1 || square == 0);
    const double scale = std::sqrt(-2 * std::log(square) / square);
    saved_ = x * scale;
    return static_cast<float>(sigma_ * y * scale);
}

namespace {

// Returns waviness of unit rms, smooth over a sixth of the field.
std::vector<float> wave_of(const Size3& size, std::mt19937& random) {
    std::vector<float> wave(index(size[1] * size[2]));
    NormalNoise normal;
    for (float& value : wave) value = normal(random);
    const auto sigma = [](std::int64_t count) { return count > 1 ? static_cast<double>(count) / 12 : 0; };
    smooth(wave, {1, size[1], size[2]}, {0, sigma(size[1]), sigma(size[2])});
    double square = 0;
    for (const float value : wave) square += static_cast<double>(value) * static_cast<double>(value);
    const auto scale = static_cast<float>(1 / std::sqrt(square / static_cast<double>(wave.size())));
    for (float& value : wave) value *= scale;
    return wave;
}

}  // namespace

void paint(LayeredScene& scene, const std::vector<double>& powers) {
    scene.intensity.assign(index(scene.size[0] * scene.lines()), 0.0f);
    for (std::int64_t line = 0; line < scene.lines(); ++line) {
        for (std::int64_t z = 0; z < scene.size[0]; ++z) {
            double power = powers[0];
            for (std::size_t k = 0; k < scene.boundaries.size(); ++k) {
                const auto at = static_cast<double>(scene.boundaries[k][index(line)]);
                const double share = std::clamp(static_cast<double>(z) + 0.5 - at, 0.0, 1.0);
                power += share * (powers[k + 1] - powers[k]);
            }
            scene.intensity[index(line * scene.size[0] + z)] = static_cast<float>(power);
        }
    }
}

std::vector<float> random_field(const Size3& size, std::mt19937& random) {
    NormalNoise normal;
    std::vector<float> field(index(size[0] * size[1] * size[2]));
    for (float& value : field) value = normal(random);
    smooth(field, size, {1.1, 1, 1});
    double square = 0;
    for (const float value : field) square += static_cast<double>(value) * static_cast<double>(value);
    const auto scale = static_cast<float>(std::sqrt(0.5 * static_cast<double>(field.size()) / square));
    for (float& value : field) value *= scale;
    return field;
}

void add_speckle(LayeredScene& scene, double snr_db, std::mt19937& random) {
    smooth(scene.intensity, scene.size, {0.8, 0, 0});
    const std::vector<float> real = random_field(scene.size, random), imaginary = random_field(scene.size, random);
    NormalNoise noise(std::pow(10, -snr_db / 20) / std::sqrt(2.0));
    for (std::size_t i = 0; i < scene.intensity.size(); ++i) {
        const float amplitude = std::sqrt(scene.intensity[i]);
        const float re = amplitude * real[i] + noise(random), im = amplitude * imaginary[i] + noise(random);
        scene.intensity[i] = re * re + im * im;
    }
}

const std::vector<double> retina_powers{0, 0.81, 0.2025, 0.04, 0.2025, 0.0144, 0.64, 0.04, 1, 0.16, 0};
const std::vector<int> retina_polarities{1, -1, -1, 1, -1, 1, -1, 1, -1, -1};

LayeredScene painted_retina(const Size3& size, unsigned seed, double wave_rows) {
    constexpr double depths[] = {.17, .22, .32, .38, .42, .54, .57, .61, .65, .84}, pits[] = {.12, .08, .02, .005};
    std::mt19937 random(seed);
    LayeredScene scene{size, {}, {}};
    for (std::size_t k = 0; k < std::size(depths); ++k) {
        std::vector<float> rows = wave_rows > 0 ? wave_of(size, random) : std::vector<float>(index(scene.lines()));
        for (std::int64_t line = 0; line < scene.lines(); ++line) {
            const double x = static_cast<double>(line % size[1]) / static_cast<double>(size[1]) - 0.5;
            const double y = size[2] > 1 ? static_cast<double>(line / size[1]) / static_cast<double>(size[2]) - 0.5 : 0;
            const double r2 = x * x + y * y;
            const double depth = depths[k] - 0.12 * r2 + (k < std::size(pits) ? pits[k] * std::exp(-r2 / 0.0784) : 0);
            float& row = rows[index(line)];
            row = static_cast<float>(static_cast<double>(size[0]) * depth + wave_rows * static_cast<double>(row));
            if (k > 0) row = std::max(row, scene.boundaries.back()[index(line)]);
        }
        scene.boundaries.push_back(std::move(rows));
    }
    paint(scene, retina_powers);
    return scene;
}

LayeredScene retina_scene(const Size3& size, unsigned seed, double snr_db) {
    LayeredScene scene = painted_retina(size, seed, 1);
    std::mt19937 random(seed + 1000);
    add_speckle(scene, snr_db, random);
    return scene;
}

namespace {

constexpr double point_sigma = 1.1;  // sigma of the point spread in depth, in bins
constexpr double two_pi = 2 * std::numbers::pi;
constexpr double turns_per_um = 2 * 1.38 / 0.8387;  // phase cycles per um of depth motion: 2 n / wavelength

// A vessel across B-scans, in samples.
struct Vessel {
    double z, x, radius;
};

// The last vessel is below the first.
constexpr Vessel vessels[] = {{40, 40, 6}, {40, 100, 3}, {60, 130, 4}, {85, 70, 4}, {85, 42, 3}};

// Returns the distance to the nearest vessel in samples, negative inside.
double outside(double z, double x) {
    double nearest = 1e9;
    for (const Vessel& one : vessels) nearest = std::min(nearest, std::hypot(z - one.z, x - one.x) - one.radius);
    return nearest;
}

// Returns whether a position is in the shadow of a vessel, widened by `margin`.
bool is_below(double z, double x, double margin) {
    return std::ranges::any_of(vessels, [&](const Vessel& one) {
        return z > one.z && std::abs(x - one.x) <= one.radius + margin && outside(z, x) > -margin;
    });
}

// Returns the power of the layers, attenuated with depth.
double power_at(double z) {
    const double layer = z < 15 ? 0.001 : z < 55 ? 1 : z < 75 ? 0.3 : 0.7;
    return layer * std::exp(-0.006 * z);
}

struct Scatterer {
    double z, x;
    std::complex<double> in_plane, beside;  // seen in the B-scan, and next to it
    bool flows, below;
};

// Paints all repeats of a scene.
class RepeatsPainter {
  public:
    explicit RepeatsPainter(const RepeatsScene& scene) : scene_(scene), random_(scene.seed) {}

    PaintedRepeats painted() {
        PaintedRepeats all;
        all.bins.resize(index(scene_.b_scans * scene_.repeats * scene_.a_scans * scene_.depth));
        for (std::int64_t b = 0; b < scene_.b_scans; ++b) {
            fill_with_scatterers();
            for (std::int64_t r = 0; r < scene_.repeats; ++r) {
                if (r > 0) renew();
                add_repeat(all, all.bins.data() + all.line(scene_, b, r));
            }
        }
        for (std::int64_t x = 0; x < scene_.a_scans; ++x) {
            for (std::int64_t z = 0; z < scene_.depth; ++z)
                all.truth.push_back(tissue_at(static_cast<double>(z), static_cast<double>(x)));
        }
        return all;
    }

  private:
    double normal() { return normal_(random_); }
    double uniform() { return uniform_(random_); }
    std::complex<double> any_phase() { return std::polar(1.0, two_pi * uniform()); }

    RepeatsTissue tissue_at(double z, double x) const {
        constexpr double margin = 3;
        const double apart = outside(z, x);
        if (z <= 17 || z >= static_cast<double>(scene_.depth) - margin) return RepeatsTissue::dark;
        if (apart <= -1) return RepeatsTissue::flowing;
        if (apart < margin) return RepeatsTissue::rim;
        if (is_below(z, x, 0)) return RepeatsTissue::below_vessel;
        return is_below(z, x, margin) ? RepeatsTissue::rim : RepeatsTissue::still;
    }

    void fill_with_scatterers() {
        constexpr double per_sample = 1, margin = 12;
        const double depth = static_cast<double>(scene_.depth), width = static_cast<double>(scene_.a_scans);
        scatterers_.clear();
        const auto count = static_cast<std::int64_t>(per_sample * (depth + 2 * margin) * (width + 2 * margin));
        for (std::int64_t i = 0; i < count; ++i) {
            const double z = uniform() * (depth + 2 * margin) - margin, x = uniform() * (width + 2 * margin) - margin;
            const bool flows = outside(z, x) < 0;
            const double amplitude = std::sqrt(power_at(z) * (flows ? 0.5 : 1));
            scatterers_.push_back({z, x, amplitude * any_phase(), amplitude * any_phase(), flows, is_below(z, x, 0)});
        }
        // Normalizes the mean power to that of power_at(): divides by the power of the point spread and the density.
        const double beam = scene_.beam_radius_um / scene_.spacing_um;
        scale_ = 1 / std::sqrt(per_sample * point_sigma * std::sqrt(std::numbers::pi) * beam *
                               std::sqrt(std::numbers::pi) / 2);
    }

    void renew() {
        for (Scatterer& one : scatterers_) {
            if (!one.flows || uniform() < 0.5) continue;
            one.in_plane = std::abs(one.in_plane) * any_phase();
            one.beside = std::abs(one.beside) * any_phase();
        }
    }

    void add_repeat(PaintedRepeats& all, std::complex<float>* bins) {
        constexpr double out_of_plane = 0.3;
        const double motion = scene_.motion_um;
        const double z_um = motion * normal(), x_um = motion * normal(), y_um = out_of_plane * motion * normal();
        const double drift_um = 0.1 * motion * normal();
        all.z.push_back(z_um / scene_.depth_um);
        all.x.push_back(-x_um / scene_.spacing_um);
        const double same = std::exp(-std::pow(y_um / scene_.beam_radius_um, 2));
        const std::vector<double> tail = tail_phases();
        field_.assign(index(scene_.a_scans * scene_.depth), {});
        for (const Scatterer& one : scatterers_) {
            const std::complex<double> seen = same * one.in_plane + std::sqrt(1 - same * same) * one.beside;
            add(one, scale_ * seen, z_um, x_um, drift_um, tail);
        }
        const double noise = std::pow(10, -scene_.snr_db / 20) * std::sqrt(0.5);
        for (std::size_t i = 0; i < field_.size(); ++i)
            bins[i] = std::complex<float>(field_[i] + std::complex<double>(noise * normal(), noise * normal()));
    }

    // Returns the phases below vessels: rms tail_rad, correlated over the width on which a vessel's flow changes.
    std::vector<double> tail_phases() {
        std::vector<double> white(index(scene_.a_scans) + 4), phases;
        for (double& value : white) value = normal();
        for (std::size_t x = 0; x + 4 < white.size(); ++x) {
            const double sum =
                0.25 * white[x] + 0.5 * white[x + 1] + white[x + 2] + 0.5 * white[x + 3] + 0.25 * white[x + 4];
            phases.push_back(scene_.tail_rad * sum / std::sqrt(0.125 + 0.5 + 1));
        }
        return phases;
    }

    void add(const Scatterer& one, std::complex<double> amplitude, double z_um, double x_um, double drift_um,
             const std::vector<double>& tail) {
        constexpr double reach_z = 4.5, reach_x = 6;
        const double beam = scene_.beam_radius_um / scene_.spacing_um;
        const double at_x = one.x - x_um / scene_.spacing_um;
        const auto moved_um = [&](double x) {
            return z_um + drift_um * (x / static_cast<double>(scene_.a_scans) - 0.5);
        };
        const double at_z = one.z + moved_um(at_x) / scene_.depth_um;
        const auto top = std::max<std::int64_t>(0, std::llround(at_z - reach_z));
        const auto bottom = std::min<std::int64_t>(scene_.depth - 1, std::llround(at_z + reach_z));
        // A phase of pi per bin, as at the centre of a spectrum, alternates the sign.
        std::array<double, 12> weights{};
        for (std::int64_t z = top; z <= bottom; ++z) {
            const double deep = (static_cast<double>(z) - at_z) / point_sigma;
            weights[index(z - top)] = (z % 2 == 0 ? 1 : -1) * std::exp(-deep * deep / 2);
        }
        const auto first = std::max<std::int64_t>(0, std::llround(at_x - reach_x));
        const auto last = std::min<std::int64_t>(scene_.a_scans - 1, std::llround(at_x + reach_x));
        for (std::int64_t x = first; x <= last; ++x) {
            const double across = (static_cast<double>(x) - at_x) / beam;
            const double turned = two_pi * turns_per_um * moved_um(static_cast<double>(x)) + std::numbers::pi * at_z +
                                  (one.below ? tail[index(x)] : 0);
            const std::complex<double> of_line = amplitude * std::polar(std::exp(-across * across), turned);
            std::complex<double>* into = field_.data() + x * scene_.depth;
            for (std::int64_t z = top; z <= bottom; ++z) into[z] += weights[index(z - top)] * of_line;
        }
    }

    const RepeatsScene& scene_;
    std::mt19937 random_;
    std::normal_distribution<double> normal_;
    std::uniform_real_distribution<double> uniform_;
    std::vector<Scatterer> scatterers_;
    std::vector<std::complex<double>> field_;
    double scale_ = 1;
};

}  // namespace

PaintedRepeats painted_repeats(const RepeatsScene& scene) {
    return RepeatsPainter(scene).painted();
}

ReconstructionSpec spec_of(const RepeatsScene& scene, const FlowRecipe& flow) {
    ReconstructionSpec spec;
    spec.format.sample_format = SampleFormat::f32;
    spec.geometry.samples = 2 * scene.depth;
    spec.geometry.a_scans = scene.a_scans;
    spec.geometry.b_scans = scene.b_scans;
    spec.geometry.b_repeats = scene.repeats;
    spec.recipe.background = Background::none;
    spec.recipe.resample = Resample::none;
    spec.recipe.window = Window::rect;
    spec.recipe.quantity = Quantity::intensity;
    spec.recipe.levels = Levels::fixed;
    spec.recipe.average = Average::power;
    // With spectra of ones, bins scale with their number. The floor is a median.
    spec.recipe.noise_floor_db = -scene.snr_db + 10 * std::log10(std::numbers::ln2);
    spec.flow = flow;
    spec.block_b_scans = scene.b_scans;
    return spec;
}

std::vector<float> flow_of(const RepeatsScene& scene, const PaintedRepeats& painted, const FlowRecipe& flow,
                           std::vector<RepeatReport>* reports) {
    const ReconstructionSpec spec = spec_of(scene, flow);
    auto stages = std::make_shared<PipelineHooks>();
    stages->bins = [&](const HookBins& staged) {
        const auto factor = static_cast<float>(1 / staged.scale);
        for (std::size_t i = 0; i < painted.bins.size(); ++i) staged.bins[i] = factor * painted.bins[i];
    };
    const auto reconstructor = plan_on_cpu(spec, stages);
    Volume structure{reconstructor->grid(), {}, {}}, found{*reconstructor->flow_grid(), {}, {}};
    structure.voxels.resize(index(structure.grid.bytes()));
    found.voxels.resize(index(found.grid.bytes()));
    const std::vector<float> spectra(index(scene.b_scans * scene.repeats * scene.a_scans * 2 * scene.depth));
    Block block;
    block.data = reinterpret_cast<const std::byte*>(spectra.data());
    block.bytes = std::ssize(spectra) * std::int64_t{sizeof(float)};
    block.b_scans = scene.b_scans;
    VoxelTargets targets(packed_target(structure.voxels.data(), structure.grid),
                         packed_target(found.voxels.data(), found.grid));
    if (reports != nullptr) {
        reports->assign(index(scene.b_scans * scene.repeats), {});
        targets.repeats = RepeatReports{reports->data(), 0};
    }
    reconstructor->wait(reconstructor->submit(block, targets));
    const Volume values = flow_values(found);
    const auto* first = reinterpret_cast<const float*>(values.voxels.data());
    return {first, first + values.grid.voxels()};
}

VesselContrast contrast_of(const PaintedRepeats& painted, const std::vector<float>& flow) {
    struct Sums {
        double count = 0, sum = 0, squares = 0, shown = 0;
        double mean() const { return sum / count; }
    };
    Sums sums[5];
    for (std::size_t i = 0; i < flow.size(); ++i) {
        Sums& of = sums[static_cast<std::size_t>(painted.truth[i % painted.truth.size()])];
        const auto value = static_cast<double>(flow[i]);
        of.count += 1;
        of.sum += value;
        of.squares += value * value;
        of.shown += value > 0;
    }
    const auto of = [&](RepeatsTissue kind) { return sums[static_cast<std::size_t>(kind)]; };
    const Sums still = of(RepeatsTissue::still), flowing = of(RepeatsTissue::flowing),
               below = of(RepeatsTissue::below_vessel);
    const double deviation = std::sqrt(still.squares / still.count - still.mean() * still.mean());
    return {(flowing.mean() - still.mean()) / deviation, flowing.shown / flowing.count, still.shown / still.count,
            below.shown / below.count};
}

using std::numbers::pi;

constexpr double lobes_step = 0.125, lobes_reach = 40;  // in bins

// The model instrument has the simulator's default settings, except for the number of samples.
static Simulation model() {
    Simulation simulation;
    simulation.samples = ModelInstrument::samples;
    return simulation;
}

std::vector<double> share_of_grid(const std::vector<double>& points) {
    std::vector<double> share;
    for (std::size_t p = 0; p < points.size(); ++p) {
        const std::size_t left = p == 0 ? 0 : p - 1, right = std::min(p + 1, points.size() - 1);
        share.push_back(std::abs(points[right] - points[left]) / static_cast<double>(right - left));
    }
    return share;
}

ModelInstrument::ModelInstrument() : spectrometer_(model()) {
    const double min = k_per_um().back(), max = k_per_um().front();
    for (const double k : k_per_um()) {
        points_.push_back((k - min) / (max - min) * static_cast<double>(samples - 1));
    }
    share_ = share_of_grid(points_);
}

ReconstructionSpec ModelInstrument::spec(std::int64_t lines) const {
    ReconstructionSpec spec = bare_spec(samples, lines);
    spec.calibration.wavelengths_nm = spectrometer_.wavelengths_nm;
    spec.recipe.window = Window::hann;
    return spec;
}

std::vector<float> ModelInstrument::fringe(double depth_um) const {
    std::vector<float> line;
    for (std::size_t p = 0; p < source().size(); ++p) {
        line.push_back(static_cast<float>(source()[p] * std::cos(2 * k_per_um()[p] * depth_um)));
    }
    return line;
}

Envelope envelope_of(const ModelInstrument& instrument) {
    Envelope envelope{instrument.points(), {}};
    const auto last = static_cast<double>(ModelInstrument::samples - 1);
    for (std::size_t p = 0; p < envelope.points.size(); ++p) {
        const double hann = std::pow(std::sin(pi * envelope.points[p] / last), 2);
        envelope.weights.push_back(hann * instrument.source()[p] * instrument.share()[p]);
    }
    return envelope;
}

double Envelope::at(double distance_bins, double length) const {
    std::complex<double> sum;
    for (std::size_t p = 0; p < points.size(); ++p) {
        sum += weights[p] * std::polar(1.0, 2 * pi * distance_bins * points[p] / length);
    }
    return std::abs(sum) / std::accumulate(weights.begin(), weights.end(), 0.0);
}

double Envelope::fwhm(double length) const {
    double inside = 0, outside = 0.25;
    while (at(outside, length) > 0.5) inside = std::exchange(outside, outside * 1.5);
    for (int step = 0; step < 40; ++step) {
        const double middle = (inside + outside) / 2;
        (at(middle, length) > 0.5 ? inside : outside) = middle;
    }
    return 2 * inside;
}

double Envelope::main_lobe_bins(double length) const {
    double distance = 0;
    while (distance < lobes_reach && at(distance + lobes_step, length) < at(distance, length)) distance += lobes_step;
    return distance;
}

double Envelope::side_lobe_db(double length) const {
    double max = 0;
    for (double distance = main_lobe_bins(length); distance < lobes_reach; distance += lobes_step) {
        max = std::max(max, at(distance, length));
    }
    return decibels(max);
}

double Envelope::mean_response(double bin, double length, const std::function<double(double)>& response) const {
    const std::vector<double> share = share_of_grid(points);
    double sum = 0, all = 0;
    for (std::size_t p = 0; p < points.size(); ++p) {
        sum += weights[p] * response(bin / length * share[p]);
        all += weights[p];
    }
    return sum / all;
}

PointResponse point_response(std::span<const double> profile, double padding, double main_lobe_bins,
                             std::ptrdiff_t begin) {
    const DepthPeak peak = strongest_peak(profile, begin, std::ssize(profile));
    PointResponse response{peak.bin / padding, peak.height, peak.fwhm / padding, 0};
    double max = 0;
    for (std::ptrdiff_t i = begin; i < std::ssize(profile); ++i) {
        const double distance_bins = std::abs(static_cast<double>(i) - peak.bin) / padding;
        if (distance_bins >= main_lobe_bins) max = std::max(max, profile[index(i)]);
    }
    response.side_lobe_db = decibels(max / peak.height);
    return response;
}

double worst_artefact_db(std::span<const double> profile, std::ptrdiff_t distance) {
    const std::ptrdiff_t top = std::ranges::max_element(profile) - profile.begin();
    double max = 0;
    for (std::ptrdiff_t i = 0; i < std::ssize(profile); ++i) {
        if (std::abs(i - top) > distance) max = std::max(max, profile[index(i)]);
    }
    return decibels(max / profile[index(top)]);
}

}  // namespace echolux
