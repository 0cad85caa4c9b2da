#include "compute/calibrate/calibrate.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>
#include <vector>

#include "compute/depth_entropy.h"
#include "compute/fft/fft.h"
#include "compute/indexing.h"
#include "compute/invalid_lines.h"
#include "compute/plan/tables.h"
#include "compute/reconstructor.h"

namespace echolux {

ProbedBlock probed(const ReconstructionSpec& given, const Recipe& recipe, const Block& block) {
    ReconstructionSpec spec = given;
    spec.recipe = recipe;
    spec.flow = {};
    spec.calibration.k_jitter.clear();  // the block's position in time is unknown here: use the nominal k map
    spec.recipe.depth_begin = 0;
    spec.recipe.depth_end = 0;
    spec.geometry.depth_flip = false;
    spec.geometry.b_scans = block.b_scans;
    spec.block_b_scans = block.b_scans;
    Block first = block;
    first.first_b_scan = 0;

    const auto reconstructor = plan_on_cpu(spec);
    ProbedBlock probe{reconstructor->grid(), {}};
    probe.voxels.resize(index(probe.grid.bytes()));
    reconstructor->wait(reconstructor->submit(first, packed_target(probe.voxels.data(), probe.grid)));
    return probe;
}

// Inverse transform of each line. Bins outside the stored range are zero.
std::vector<float> spectra_of(std::span<const std::complex<float>> bins, std::int64_t samples, double scale) {
    const std::int64_t depth = samples / 2, lines = std::ssize(bins) / depth;
    const auto factor = static_cast<float>(scale / static_cast<double>(samples));
    Fft backwards(Fft::Kind::real_inverse, samples);
    std::vector<float> spectra;
    spectra.reserve(index(lines * samples));
    for (std::int64_t line = 0; line < lines; ++line) {
        std::fill_n(backwards.complex_in(), samples / 2 + 1, std::complex<float>());
        std::transform(bins.begin() + line * depth, bins.begin() + (line + 1) * depth, backwards.complex_in(),
                       [factor](std::complex<float> bin) { return bin * factor; });
        backwards.execute();
        spectra.insert(spectra.end(), backwards.real(), backwards.real() + samples);
    }
    return spectra;
}

std::vector<float> windowed_spectra(const ReconstructionSpec& spec, const Block& block) {
    Recipe recipe = spec.recipe;
    recipe.method = Method::plain;
    recipe.dispersion = false;
    recipe.fixed_pattern = FixedPattern::none;
    recipe.average = Average::none;
    recipe.noise_floor = NoiseFloor::none;
    recipe.zero_padding = 1;
    recipe.quantity = Quantity::complex;
    recipe.voxel = VoxelType::complex64;
    ReconstructionSpec without_floor = spec;
    without_floor.calibration.noise_floor.clear();
    const ProbedBlock probe = probed(without_floor, recipe, block);
    const auto* bins = reinterpret_cast<const std::complex<float>*>(probe.voxels.data());

    const std::int64_t n = spec.geometry.samples, depth = probe.grid.depth;
    const double sum = spectral_weight(recipe, spec.calibration, k_grid(spec.calibration, n)).sum;
    return spectra_of({bins, index(depth * probe.grid.a_scans * probe.grid.b_scans)}, n, sum);
}

std::int64_t first_row_past_zero_delay(std::int64_t depth) {
    constexpr double share = 0.05;
    return static_cast<std::int64_t>(share * static_cast<double>(depth)) + 1;
}

// Detects an object in the mean spectrum of a B-scan. A mirror or a flat interface creates the same fringes in every
// A-scan, so frame_mean would remove it with the background (97.7 -> 34.7 dB, docs/algorithms.md 2.2).
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
    std::vector<std::complex<double>> mean(index(depth));
    std::vector<double> power(mean.size());
    for (std::int64_t i = 0; i < probe.grid.voxels(); ++i) {
        const std::complex<double> bin(bins[i]);
        const auto z = index(i % depth);
        mean[z] += bin / lines;
        power[z] += std::norm(bin) / lines;
    }
    const auto begin = index(first_row_past_zero_delay(depth));
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

// ---- Measures the 0 dB level in the quietest depth band, so that users need not name a region without signal.

namespace {

constexpr std::int64_t bands = 16;
constexpr double empty_db = -200;  // of zero power

double median(std::vector<float>& values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return static_cast<double>(*middle);
}

}  // namespace

double measured_noise_floor_db(const ReconstructionSpec& spec, const Block& block) {
    Recipe recipe = spec.recipe;
    recipe.quantity = Quantity::db;
    recipe.voxel = VoxelType::f32;
    recipe.levels = Levels::fixed;
    recipe.noise_floor = NoiseFloor::none;  // after subtraction, the remaining noise has no level
    if (recipe.method == Method::compressive) recipe.method = Method::plain;  // sparse results contain no noise
    ReconstructionSpec noisy = spec;
    noisy.defr.residual = true;
    const ProbedBlock probe = probed(noisy, recipe, block);
    const auto* db = reinterpret_cast<const float*>(probe.voxels.data());

    const std::int64_t depth = probe.grid.depth;
    const std::int64_t begin = first_row_past_zero_delay(depth);
    const std::int64_t width = std::max<std::int64_t>(1, depth / bands);
    double floor = 0;
    std::vector<float> band;
    for (std::int64_t z = begin; z + width <= depth; z += width) {
        band.clear();
        for (std::int64_t line = 0; line < probe.grid.a_scans * probe.grid.b_scans; ++line) {
            const float* values = db + line * depth;
            if (std::isnan(values[0])) continue;  // its spectrum is invalid
            band.insert(band.end(), values + z, values + z + width);
        }
        if (band.empty()) return empty_db;
        const double level = median(band);
        if (z == begin || level < floor) floor = level;
    }
    return floor;
}

double noise_floor_for_recipe(const ReconstructionSpec& spec, const Block& block) {
    constexpr double nothing_db = -199;  // the level of zeros is -200 dB (min_power)
    const double level = measured_noise_floor_db(spec, block);
    return level < nothing_db ? 0 : std::round(level * 100) / 100;
}

// Returns the spec and the block of up to `max_lines` first lines of a block, as one plain B-scan.
static std::pair<ReconstructionSpec, Block> first_lines(const ReconstructionSpec& given, const Block& block,
                                                        std::int64_t max_lines) {
    ReconstructionSpec spec = given;
    spec.geometry = {};
    spec.geometry.samples = given.geometry.samples;
    spec.geometry.a_scans = std::min(max_lines, given.geometry.lines_per_b_scan());
    spec.calibration.fast_axis.clear();
    spec.calibration.noise_floor.clear();
    Block first = block;
    first.bytes = spec.geometry.a_scans * line_bytes(spec.format, spec.geometry);
    first.b_scans = 1;
    first.frames.stride_bytes = 0;
    return {spec, first};
}

// Measures the share of a depth profile that a sparse search leaves empty.
double empty_share(const ReconstructionSpec& given, const Block& block) {
    constexpr std::int64_t max_lines = 16;
    const auto [spec, first] = first_lines(given, block, max_lines);
    Recipe recipe = spec.recipe;
    recipe.quantity = Quantity::intensity;
    recipe.voxel = VoxelType::f32;
    recipe.fixed_pattern = FixedPattern::none;
    recipe.average = Average::none;
    recipe.noise_floor = NoiseFloor::none;
    const ProbedBlock probe = probed(spec, recipe, first);
    const auto* power = reinterpret_cast<const float*>(probe.voxels.data());
    const std::int64_t voxels = probe.grid.voxels();
    return static_cast<double>(std::count(power, power + voxels, 0.0f)) / static_cast<double>(voxels);
}

// ---- Tests whether the dispersion of a plan matches its spectra. A real spectrum shows each reflector on both sides
// of zero delay. With the correct dispersion one image is sharp and the other is blurred twice as much; with half or
// twice the dispersion, neither is as sharp (docs/transforms.md 8).

// Returns some lines of a block as they enter the transform, normalized to power 1. Both sides are kept, but not the
// residual source spectrum at zero delay, which is sharp without dispersion. Empty if the lines are zero.
static SpectraOnGrid sampled_spectra(const ReconstructionSpec& spec, const Block& block) {
    constexpr std::int64_t max_lines = 32;
    const std::vector<float> all = windowed_spectra(spec, block);
    const std::int64_t n = spec.geometry.samples, lines = std::ssize(all) / n, count = std::min(max_lines, lines);
    const std::int64_t foot = first_row_past_zero_delay(n / 2);
    Fft forward(Fft::Kind::complex_forward, n), inverse(Fft::Kind::complex_inverse, n);
    SpectraOnGrid spectra{{}, n};
    double power = 0;
    for (std::int64_t l = 0; l < count; ++l) {
        std::copy_n(all.data() + l * lines / count * n, n, forward.complex_in());
        forward.execute();
        for (std::int64_t z = 0; z < n; ++z) {
            const bool is_kept = z >= foot && z <= n - foot;
            inverse.complex_in()[z] = is_kept ? forward.complex_out()[z] : std::complex<float>();
        }
        inverse.execute();
        for (std::int64_t j = 0; j < n; ++j) {
            spectra.values.push_back(inverse.complex_out()[j]);
            power += static_cast<double>(std::norm(spectra.values.back()));
        }
    }
    if (!(power > 0)) return {{}, n};
    const auto scale = static_cast<float>(std::sqrt(static_cast<double>(spectra.values.size()) / power));
    for (std::complex<float>& value : spectra.values) value *= scale;
    return spectra;
}

// Returns whether an entropy is lower than another by more than chance.
static bool is_sharper(double entropy, double than) {
    constexpr double beyond_chance = 3;
    return than - entropy > beyond_chance * std::exp(-entropy / 2);
}

// Returns the entropy over depth with the spec's dispersion, or infinity if the lines are zero.
static double entropy_with(const ReconstructionSpec& spec, const Block& block, bool mirrors_dispersion) {
    const SpectraOnGrid spectra = sampled_spectra(spec, block);
    if (spectra.values.empty()) return std::numeric_limits<double>::infinity();
    std::vector<std::complex<float>> phasors(index(spec.geometry.samples), 1.0f);
    if (spec.recipe.dispersion) {
        const KGrid grid = k_grid(spec.calibration, spec.geometry.samples);
        const std::vector<double> theta = dispersion_phase(spec.recipe, spec.calibration, grid);
        std::ranges::transform(theta, phasors.begin(),
                               [](double phase) { return std::complex<float>(std::polar(1.0, -phase)); });
    }
    if (mirrors_dispersion) std::ranges::reverse(phasors);
    return depth_entropy(spectra, {Backend::cpu})->of(phasors).front();
}

bool is_sharper_with_reversed_wavelengths(const ReconstructionSpec& spec, const Block& block) {
    if (spec.calibration.wavelengths_nm.empty()) return false;
    ReconstructionSpec reversed = spec;
    std::ranges::reverse(reversed.calibration.wavelengths_nm);
    return is_sharper(entropy_with(reversed, block, true), entropy_with(spec, block, false));
}

// Evaluates the entropy for factors 0, 0.1 ... 2 and compares the best with factor 1.
double sharpest_dispersion_factor(const ReconstructionSpec& spec, const Block& block) {
    constexpr int steps = 20;  // up to twice the dispersion
    const SpectraOnGrid spectra = sampled_spectra(spec, block);
    if (spectra.values.empty()) return 1;
    const std::vector<double> theta =
        dispersion_phase(spec.recipe, spec.calibration, k_grid(spec.calibration, spec.geometry.samples));
    std::vector<std::complex<float>> phasors;
    for (int step = 0; step <= steps; ++step) {
        for (const double phase : theta) phasors.emplace_back(std::polar(1.0, -2.0 * step / steps * phase));
    }
    const std::vector<double> entropies = depth_entropy(spectra, {Backend::cpu})->of(phasors);
    const auto best = std::ranges::min_element(entropies);
    const double as_given = entropies[steps / 2];
    return is_sharper(*best, as_given) ? 2.0 * static_cast<double>(best - entropies.begin()) / steps : 1;
}

// With a k map in another unit, all points of the k grid come from one place of the spectrum, so lines become constant
// and have no depth.
double share_at_zero_delay(const ReconstructionSpec& given, const Block& block) {
    constexpr std::int64_t bins = 3;  // main lobe of the Hann window
    constexpr std::int64_t max_lines = 64;
    const auto [spec, first] = first_lines(given, block, max_lines);
    Recipe recipe = spec.recipe;
    recipe.method = Method::plain;
    recipe.background = Background::rolling;  // removes the slow source spectrum before the k map is applied
    recipe.rolling_width = std::min<std::int64_t>(32, spec.geometry.samples / 4);
    recipe.fixed_pattern = FixedPattern::none;
    recipe.window = Window::hann;
    recipe.shaping = Shaping::none;
    recipe.zero_padding = 1;
    recipe.average = Average::none;
    recipe.noise_floor = NoiseFloor::none;
    recipe.quantity = Quantity::intensity;
    recipe.voxel = VoxelType::f32;
    const ProbedBlock probe = probed(spec, recipe, first);
    const auto* power = reinterpret_cast<const float*>(probe.voxels.data());
    double near = 0, all = 0;
    for (std::int64_t i = 0; i < probe.grid.voxels(); ++i) {
        const auto value = static_cast<double>(power[i]);
        all += value;
        if (i % probe.grid.depth < bins) near += value;
    }
    return all > 0 ? near / all : 0;
}

// ---- statistics of whole recordings ---------------------------------------------------------------------------------

// The number of stored bits, less the sign bit and the shift, limited by the mask.
std::optional<double> full_scale(const RawFormat& format) {
    if (format.sample_format == SampleFormat::f32) return std::nullopt;
    const bool has_sign = format.sample_format == SampleFormat::i16;
    const std::int64_t stored = sample_bits(format.sample_format) - (has_sign ? 1 : 0) - format.shift;
    const bool is_masked = format.bits > 0 && !has_sign;
    return std::ldexp(1.0, static_cast<int>(is_masked ? std::min(format.bits, stored) : stored)) - 1;
}

std::int64_t lines_of(const Block& block, const ScanGeometry& geometry) {
    return block.b_scans * geometry.b_repeats * geometry.lines_per_b_scan();
}

const std::byte* line_at(const Block& block, const RawFormat& format, const ScanGeometry& geometry, std::int64_t line) {
    const std::int64_t lines = geometry.lines_per_b_scan(), bytes = line_bytes(format, geometry);
    return block.data + frame_offset(block.frames, line / lines, lines * bytes) + line % lines * bytes;
}

SpectrumSurvey::SpectrumSurvey(const RawFormat& format, const ScanGeometry& geometry)
    : format_(format), geometry_(geometry), reader_(format, geometry), full_scale_(full_scale(format)),
      sum_(index(geometry.samples), 0.0), min_(sum_.size(), std::numeric_limits<double>::max()),
      max_(sum_.size(), std::numeric_limits<double>::lowest()) {}

void SpectrumSurvey::add(const Block& block, const LineRange& range) {
    const double full = full_scale_.value_or(std::numeric_limits<double>::max());
    reader_.with_reader([&](const auto& read) {
        for (std::int64_t line = range.first; line < range.first + range.count; ++line) {
            const std::byte* samples = line_at(block, format_, geometry_, line);
            if (has_invalid_sample(read, samples, geometry_.samples)) continue;
            ++lines_;
            for (std::size_t p = 0; p < sum_.size(); ++p) {
                const auto value = static_cast<double>(read(samples, static_cast<std::int64_t>(p)));
                sum_[p] += value;
                min_[p] = std::min(min_[p], value);
                max_[p] = std::max(max_[p], value);
                clipped_ += value >= full ? 1 : 0;
            }
        }
    });
}

std::vector<double> SpectrumSurvey::mean() const {
    std::vector<double> mean = sum_;
    for (double& value : mean) value /= static_cast<double>(std::max<std::int64_t>(lines_, 1));
    return mean;
}

// Returns the spec with uncropped float amplitudes as output.
static ReconstructionSpec for_amplitudes(ReconstructionSpec spec) {
    spec.flow = {};
    spec.calibration.noise_floor.clear();
    spec.geometry.depth_flip = false;
    spec.recipe.depth_begin = 0;
    spec.recipe.depth_end = 0;
    spec.recipe.noise_floor = NoiseFloor::none;
    spec.recipe.quantity = Quantity::amplitude;
    spec.recipe.voxel = VoxelType::f32;
    spec.recipe.levels = Levels::fixed;
    return spec;
}

MeanProfile::MeanProfile(const ReconstructionSpec& spec) : reconstructor_(plan_on_cpu(for_amplitudes(spec))) {
    amplitudes_.resize(index(grid().depth * grid().a_scans * spec.block_b_scans));
    sum_.resize(index(grid().depth));
    power_.resize(sum_.size());
}

void MeanProfile::add(const Block& block) {
    reconstructor_->wait(reconstructor_->submit(block, packed_target(amplitudes_.data(), grid(), block.first_b_scan)));
    const std::int64_t lines = block.b_scans * grid().a_scans;
    for (std::int64_t line = 0; line < lines; ++line) {
        const float* of_line = amplitudes_.data() + line * grid().depth;
        if (std::isnan(of_line[0])) continue;  // its spectrum is invalid
        ++lines_;
        for (std::size_t z = 0; z < sum_.size(); ++z) {
            const auto a = static_cast<double>(of_line[z]);
            sum_[z] += a;
            power_[z] += a * a;
        }
    }
}

std::vector<double> MeanProfile::mean(const std::vector<double>& sum) const {
    std::vector<double> mean = sum;
    for (double& value : mean) value /= static_cast<double>(std::max<std::int64_t>(lines_, 1));
    return mean;
}

std::vector<double> MeanProfile::amplitude() const {
    return mean(sum_);
}

std::vector<double> MeanProfile::root_mean_power() const {
    std::vector<double> root = mean(power_);
    for (double& value : root) value = std::sqrt(value);
    return root;
}

}  // namespace echolux
