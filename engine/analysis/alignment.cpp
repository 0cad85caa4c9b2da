#include "engine/analysis/alignment.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <iterator>
#include <numeric>
#include <utility>

#include "compute/calibrate/calibrate.h"
#include "compute/calibrate/mirrors.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "compute/plan/tables.h"
#include "compute/reconstructor.h"
#include "compute/steps/sample.h"

namespace echolux {
namespace {

constexpr std::int64_t padding = 4;  // to locate peaks between bins
// Limits per reading, so that pictures are not delayed. Longer averages take several blocks.
constexpr std::int64_t max_lines_at_once = 64;
constexpr std::int64_t max_samples_at_once = 64 * 2048;
constexpr double min_peak_db = 10;

double decibels(double power) {
    return 10 * std::log10(std::max(power, 1e-30));
}

// Returns the recipe without the steps that change an A-scan for the sake of a volume.
Recipe alignment_recipe(Recipe recipe) {
    recipe.method = Method::plain;
    recipe.background = Background::none;  // subtracted beforehand
    recipe.fixed_pattern = FixedPattern::none;
    if (recipe.resample == Resample::nudft) recipe.resample = Resample::spline;
    recipe.depth_begin = 0;
    recipe.depth_end = 0;
    recipe.average = Average::none;
    recipe.noise_floor = NoiseFloor::none;
    recipe.quantity = Quantity::complex;
    recipe.voxel = VoxelType::complex64;
    recipe.levels = Levels::fixed;
    return recipe;
}

// Returns the part that varies over more than an eighth of the spectrum: the source, but no fringe beyond the first
// bins.
std::vector<double> slow_part(const std::vector<double>& spectrum) {
    const std::int64_t n = std::ssize(spectrum), half = std::max<std::int64_t>(1, n / 16);
    std::vector<double> sums(index(n + 1), 0.0), slow(index(n));
    for (std::int64_t p = 0; p < n; ++p) sums[index(p + 1)] = sums[index(p)] + spectrum[index(p)];
    for (std::int64_t p = 0; p < n; ++p) {
        // Symmetric at the ends too, where a slope would otherwise bend.
        const std::int64_t reach = std::min({half, p, n - 1 - p});
        slow[index(p)] = (sums[index(p + reach + 1)] - sums[index(p - reach)]) / static_cast<double>(2 * reach + 1);
    }
    return slow;
}

template <class S>
bool alike(const S& a, const S& b) {
    return std::ranges::all_of(describe<S>(), [&](const Field<S>& field) { return field.get(a) == field.get(b); });
}

// Vectors of the calibration are not settings and are compared separately.
bool alike_vectors(const Calibration& a, const Calibration& b) {
    return a.background == b.background && a.dark == b.dark && a.k_positions == b.k_positions &&
           a.wavelengths_nm == b.wavelengths_nm && a.dispersion_rad == b.dispersion_rad;
}

}  // namespace

template <>
const std::vector<Field<AlignmentRequest>>& describe<AlignmentRequest>() {
    using S = AlignmentRequest;
    static const std::vector<Field<S>> fields{
        integer("line", &S::line, 0, 1'000'000, "", Effect::view, "line of the newest block, counted from 0"),
        integer("average", &S::average, 1, 10'000, "A-scans", Effect::view,
                "number of A-scans averaged, starting at that line; more than 64, or than a B-scan has, are collected "
                "over several blocks"),
        integer("depth_begin", &S::depth_begin, 0, 1'000'000, "bins", Effect::view,
                "min depth of the peak search; 0: just past zero delay"),
    };
    return fields;
}

// Reconstructs lines of counts without background to complex bins.
class Alignment::Lines {
  public:
    Lines(ReconstructionSpec spec, std::int64_t lines) {
        const std::int64_t samples = spec.geometry.samples;
        const double refractive_index = spec.geometry.refractive_index;
        spec.format = {};
        spec.format.sample_format = SampleFormat::f32;
        spec.geometry = {};
        spec.geometry.samples = samples;
        spec.geometry.a_scans = lines;
        spec.geometry.b_scans = 1;
        spec.geometry.refractive_index = refractive_index;
        spec.calibration.fast_axis.clear();
        spec.calibration.k_jitter.clear();
        spec.calibration.noise_floor.clear();
        spec.flow = {};
        spec.block_b_scans = 1;
        reconstructor_ = plan_on_cpu(spec);
        bins_.resize(index(grid().depth * lines));
    }

    std::int64_t lines() const { return grid().a_scans; }
    const VolumeGrid& grid() const { return reconstructor_->grid(); }

    // Returns [line][depth].
    const std::vector<std::complex<float>>& bins(const std::vector<float>& counts) {
        Block block;
        block.data = reinterpret_cast<const std::byte*>(counts.data());
        block.bytes = std::ssize(counts) * static_cast<std::int64_t>(sizeof(float));
        block.b_scans = 1;
        reconstructor_->wait(reconstructor_->submit(block, packed_target(bins_.data(), grid())));
        return bins_;
    }

  private:
    std::unique_ptr<Reconstructor> reconstructor_;
    std::vector<std::complex<float>> bins_;
};

Alignment::Alignment(const ReconstructionSpec& spec) : spec_(spec) {
    prepared(spectra_, 2, false);  // also checks the plan
    weight_sum_ = spectral_weight(spec.recipe, spec.calibration, k_grid(spec.calibration, spec.geometry.samples)).sum;
}

Alignment::~Alignment() = default;

bool Alignment::fits(const ReconstructionSpec& spec) const {
    return alike(spec.format, spec_.format) && alike(spec.geometry, spec_.geometry) &&
           alike(spec.calibration, spec_.calibration) && alike_vectors(spec.calibration, spec_.calibration) &&
           alike(spec.recipe, spec_.recipe);
}

// Returns the requested lines, limited to one acquired B-scan.
LineRange Alignment::range(const Block& block, const AlignmentRequest& wanted) const {
    const std::int64_t frame = spec_.geometry.lines_per_b_scan();
    const std::int64_t first = std::clamp<std::int64_t>(wanted.line, 0, lines_of(block, spec_.geometry) - 1);
    const std::int64_t quick =
        std::clamp<std::int64_t>(max_samples_at_once / spec_.geometry.samples, 1, max_lines_at_once);
    const std::int64_t max = std::min(quick, frame - first % frame);
    return {first, std::clamp<std::int64_t>(wanted.average, 1, max)};
}

Alignment::Lines& Alignment::prepared(std::unique_ptr<Lines>& lines, std::int64_t count, bool for_profiles) const {
    if (lines && lines->lines() == count) return *lines;
    ReconstructionSpec spec = spec_;
    spec.recipe = alignment_recipe(spec.recipe);
    spec.recipe.zero_padding = for_profiles ? padding : 1;
    spec.recipe.dispersion = for_profiles && spec.recipe.dispersion;
    lines = std::make_unique<Lines>(spec, count);
    return *lines;
}

std::vector<float> Alignment::fringes_of(const Block& block, const LineRange& range,
                                         const std::vector<double>& background) const {
    std::vector<float> fringes;
    fringes.reserve(index(range.count) * background.size());
    LineFormat(spec_.format, spec_.geometry).with_reader([&](const auto& read) {
        for (std::int64_t line = range.first; line < range.first + range.count; ++line) {
            const std::byte* samples = line_at(block, spec_.format, spec_.geometry, line);
            for (std::size_t p = 0; p < background.size(); ++p) {
                const auto count = static_cast<double>(read(samples, static_cast<std::int64_t>(p)));
                fringes.push_back(static_cast<float>(count - background[p]));
            }
        }
    });
    return fringes;
}

// Averages all A-scans until the requested number is reached. From then on, older ones decay exponentially.
void Alignment::average_profiles(const std::vector<float>& fringes, std::int64_t lines, std::int64_t wanted) {
    Lines& profiles = prepared(profiles_, lines, true);
    const auto& bins = profiles.bins(fringes);
    const auto depth = index(profiles.grid().depth);
    std::vector<double> power(depth, 0.0);
    for (std::size_t i = 0; i < bins.size(); ++i) {
        power[i % depth] += std::norm(std::complex<double>(bins[i])) / static_cast<double>(lines);
    }
    averaged_ = std::min(averaged_ + static_cast<double>(lines), static_cast<double>(std::max(wanted, lines)));
    const double share = static_cast<double>(lines) / averaged_;
    power_.resize(depth);
    for (std::size_t z = 0; z < depth; ++z)
        power_[z] = share < 1 ? power_[z] + share * (power[z] - power_[z]) : power[z];
}

// Fills reading.windowed and returns the mean light of both arms under the window, in counts. Without a dark spectrum,
// the dark level counts as light.
double Alignment::fill_windowed(AlignmentReading& reading) {
    const std::size_t n = reading.spectrum.size();
    const std::vector<double>& dark = spec_.calibration.dark;
    std::vector<float> counts(2 * n);
    for (std::size_t p = 0; p < n; ++p) {
        counts[p] = static_cast<float>(reading.spectrum[p] - reading.background[p]);
        counts[n + p] = static_cast<float>(reading.spectrum[p] - (dark.empty() ? 0 : dark[p]));
    }
    const auto samples = static_cast<std::int64_t>(n);
    const std::vector<float> spectra = spectra_of(prepared(spectra_, 2, false).bins(counts), samples, weight_sum_);
    reading.windowed.assign(spectra.begin(), spectra.begin() + samples);
    return std::accumulate(spectra.begin() + samples, spectra.end(), 0.0) / weight_sum_;
}

void Alignment::fill_a_scan(AlignmentReading& reading, std::int64_t depth_begin, double light) const {
    std::vector<double> amplitude(power_.size());
    std::transform(power_.begin(), power_.end(), amplitude.begin(), [](double power) { return std::sqrt(power); });
    std::transform(power_.begin(), power_.end(), std::back_inserter(reading.a_scan_db),
                   [](double power) { return static_cast<float>(decibels(power)); });
    const std::int64_t points = std::ssize(power_);
    const std::int64_t begin = depth_begin > 0 ? depth_begin * padding : first_row_past_zero_delay(points);
    const DepthPeak peak = strongest_peak(amplitude, begin, points);
    const double floor = noise_power(power_, averaged_, peak.bin, peak.fwhm);

    AlignmentStats& stats = reading.stats;
    stats.peak_bin = peak.bin / padding;
    stats.peak_um = stats.peak_bin * reading.bin_um;
    stats.fwhm_bins = peak.fwhm / padding;
    stats.fwhm_um = stats.fwhm_bins * reading.bin_um;
    stats.peak_db = decibels(peak.height * peak.height);
    stats.floor_db = decibels(floor);
    stats.snr_db = peak.height > 0 ? stats.peak_db - stats.floor_db : 0;
    stats.has_peak = stats.snr_db >= min_peak_db;
    stats.contrast = light > 0 ? 2 * peak.height / light : 0;
}

AlignmentReading Alignment::read(const Block& block, const AlignmentRequest& wanted) {
    const LineRange lines = range(block, wanted);
    SpectrumSurvey survey(spec_.format, spec_.geometry);
    survey.add(block, lines);

    AlignmentReading reading;
    reading.lines = lines.count;
    reading.spectrum = survey.mean();
    reading.min = survey.min();
    reading.max = survey.max();
    reading.has_background = !spec_.calibration.background.empty();
    reading.background = reading.has_background ? spec_.calibration.background : slow_part(reading.spectrum);
    reading.full_scale = full_scale(spec_.format);
    if (reading.full_scale) {
        const double max = *std::max_element(reading.max.begin(), reading.max.end());
        reading.stats.saturation_percent = 100 * max / *reading.full_scale;
    }
    const auto samples = static_cast<double>(lines.count * spec_.geometry.samples);
    reading.stats.clipped_percent = 100 * static_cast<double>(survey.clipped()) / samples;

    average_profiles(fringes_of(block, lines, reading.background), lines.count, wanted.average);
    reading.points_per_bin = padding;
    reading.bin_um = profiles_->grid().spacing_um[0] * padding;
    const double light = fill_windowed(reading);
    fill_a_scan(reading, wanted.depth_begin, light);
    return reading;
}

void AlignmentWatch::add(AlignmentReading reading, double time_s) {
    if (newest_ && newest_->a_scan_db.size() != reading.a_scan_db.size()) forget();
    const AlignmentStats& stats = reading.stats;
    moments_.push_back({time_s, stats.peak_db, stats.snr_db, stats.peak_bin, stats.fwhm_bins});
    if (moments_.size() > max_moments) moments_.pop_front();
    if (holds_) {
        held_db_.resize(reading.a_scan_db.size(), -1000.0F);
        std::transform(held_db_.begin(), held_db_.end(), reading.a_scan_db.begin(), held_db_.begin(),
                       [](float held, float now) { return std::max(held, now); });
    }
    newest_ = std::move(reading);
}

void AlignmentWatch::forget() {
    newest_.reset();
    frozen_.reset();
    moments_.clear();
    held_db_.clear();
}

void AlignmentWatch::hold_peaks(bool hold) {
    holds_ = hold;
    held_db_.clear();
    if (hold && newest_) held_db_ = newest_->a_scan_db;
}

}  // namespace echolux
