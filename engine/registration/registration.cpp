#include "engine/registration/registration.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "compute/calibrate/fitting.h"
#include "compute/error.h"
#include "compute/gpu_backend.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plan/describe.h"
#include "compute/plan/params.h"
#include "compute/plural.h"
#include "compute/steps/registration.h"
#include "compute/voxel_target.h"
#include "engine/analysis/intensity.h"
#include "engine/memory.h"
#include "engine/registration/strips.h"
#include "engine/scan/settings.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {

// ---- Formats shifts as CSV.

namespace {

// Returns an empty cell for unknown values.
std::string cell(double value, bool is_known) {
    return is_known ? fmt::format("{:.4f}", value) : std::string();
}

std::string row_of(std::int64_t volume, std::size_t b_scan, const RowShift& row, const VolumeGrid& grid) {
    const auto& [dz, dx, dy] = grid.spacing_um;
    const bool known = row.is_valid();
    return fmt::format("{},{},{},{},{},{},{},{},{:.4f},{},{}\n", volume, b_scan, cell(row.z, known), cell(row.x, known),
                       cell(row.y, known), cell(row.z * dz, known && dz > 0), cell(row.x * dx, known && dx > 0),
                       cell(row.y * dy, known && dy > 0), row.quality, name_of(row.reason), row.is_saccade ? 1 : 0);
}

}  // namespace

std::string csv_heading() {
    return std::string(registration_heading) +
           ": sample (depth, A-scan) of a B-scan lies at (depth + z, A-scan + x) of B-scan b_scan + y of "
           "the reference\n"
           "volume,b_scan,z,x,y,z_um,x_um,y_um,quality,reason,saccade\n";
}

std::string csv_rows(std::int64_t volume, const std::vector<RowShift>& rows, const VolumeGrid& grid) {
    std::string text;
    for (std::size_t b = 0; b < rows.size(); ++b) text += row_of(volume, b, rows[b], grid);
    return text;
}

std::string csv_of(const std::vector<std::vector<RowShift>>& volumes, const VolumeGrid& grid) {
    std::string text = csv_heading();
    for (std::size_t volume = 0; volume < volumes.size(); ++volume)
        text += csv_rows(static_cast<std::int64_t>(volume), volumes[volume], grid);
    return text;
}

// ---- Mean of registered volumes. Resamples with cubic B-splines (M. Unser, IEEE Signal Processing Magazine 16(6),
// 1999), because the blur of linear interpolation would look like the effect of averaging.

namespace {

// Converts values, `stride` apart, to coefficients of a cubic B-spline in place.
void prefilter(float* first, std::int64_t count, std::int64_t stride) {
    if (count < 2) return;
    const auto at = [&](std::int64_t i) -> float& { return first[i * stride]; };
    double last = SplineFilter::first(at, count);
    at(0) = static_cast<float>(last);
    for (std::int64_t i = 1; i < count; ++i) {
        last = SplineFilter::there(last, at(i));
        at(i) = static_cast<float>(last);
    }
    last = SplineFilter::turn(last, at(count - 2));
    at(count - 1) = SplineFilter::coefficient(last);
    for (std::int64_t i = count - 2; i >= 0; --i) {
        last = SplineFilter::back(last, at(i));
        at(i) = SplineFilter::coefficient(last);
    }
}

// Returns the samples whose interpolated values come from inside the input.
Interval inside(const ShiftedTaps& taps, std::int64_t count) {
    return {std::max<std::int64_t>(0, -taps.whole), std::min(count, count - taps.whole - (taps.is_between() ? 1 : 0))};
}

// Spline coefficients of one B-scan.
class Resampled {
  public:
    Resampled(const float* b_scan, const VolumeGrid& grid)
        : grid_(grid), values_(b_scan, b_scan + grid.depth * grid.a_scans) {
        if (std::ranges::any_of(values_, is_lost)) is_lost_.resize(values_.size());
        for (std::size_t i = 0; i < is_lost_.size(); ++i) {
            is_lost_[i] = is_lost(values_[i]);
            if (is_lost_[i]) values_[i] = 0;
        }
        for (std::int64_t a = 0; a < grid.a_scans; ++a) prefilter(values_.data() + a * grid.depth, grid.depth, 1);
        for (std::int64_t z = 0; z < grid.depth; ++z) prefilter(values_.data() + z, grid.a_scans, grid.depth);
    }

    // Adds the shifted and weighted B-scan. Clamps power at zero, because splines can overshoot.
    void add_to(float* sums, float* weights, const LandingRow& landing) const {
        const ShiftedTaps taps_z(landing.z), taps_x(landing.x);
        const Interval inside_z = inside(taps_z, grid_.depth), inside_x = inside(taps_x, grid_.a_scans);
        std::vector<float> line(index(grid_.depth));
        for (std::int64_t a = inside_x.begin; a < inside_x.end; ++a) {
            std::ranges::fill(line, 0.0F);
            for (int i = 0; i < 4; ++i) {
                const float* from = values_.data() + taps_x.tap(a, i, grid_.a_scans) * grid_.depth;
                for (std::size_t z = 0; z < line.size(); ++z) line[z] += taps_x.cubic.weight[i] * from[z];
            }
            for (std::int64_t z = inside_z.begin; z < inside_z.end; ++z) {
                if (is_next_to_lost(taps_z, taps_x, z, a)) continue;
                float value = 0;
                for (int i = 0; i < 4; ++i)
                    value += taps_z.cubic.weight[i] * line[index(taps_z.tap(z, i, grid_.depth))];
                sums[a * grid_.depth + z] += landing.weight * std::max(0.0F, value);
                weights[a * grid_.depth + z] += landing.weight;
            }
        }
    }

  private:
    static bool is_lost(float value) { return !std::isfinite(value); }

    bool is_next_to_lost(const ShiftedTaps& taps_z, const ShiftedTaps& taps_x, std::int64_t z, std::int64_t a) const {
        if (is_lost_.empty()) return false;
        for (int i = taps_x.first_deciding(); i < taps_x.end_deciding(); ++i) {
            const std::int64_t line = taps_x.tap(a, i, grid_.a_scans) * grid_.depth;
            for (int k = taps_z.first_deciding(); k < taps_z.end_deciding(); ++k) {
                if (is_lost_[index(line + taps_z.tap(z, k, grid_.depth))]) return true;
            }
        }
        return false;
    }

    const VolumeGrid& grid_;
    std::vector<float> values_;
    std::vector<bool> is_lost_;  // input was not finite; empty if all values are finite
};

}  // namespace

RegisteredMean::RegisteredMean(const VolumeGrid& reference)
    : grid_(reference), sums_(index(reference.voxels()), 0.0F), weights_(index(reference.voxels()), 0.0F) {}

RegisteredMean::RegisteredMean(const VolumeGrid& reference, const BackendChoice& choice)
    : grid_(reference),
      on_gpu_(required_gpu().registration(choice)->mean({reference.depth, reference.a_scans, reference.b_scans})) {}

void RegisteredMean::clear() {
    used_ = 0;
    if (on_gpu_) return on_gpu_->clear();
    std::ranges::fill(sums_, 0.0F);
    std::ranges::fill(weights_, 0.0F);
}

// Returns the valid rows that land inside the reference, sorted by their target B-scan.
std::vector<LandingRow> RegisteredMean::landing(const std::vector<RowShift>& rows) {
    std::vector<LandingRow> all;
    for (std::int64_t row = 0; row < std::ssize(rows); ++row) {
        const RowShift& shift = rows[index(row)];
        const std::int64_t to = std::llround(static_cast<double>(row) + shift.y);
        if (!shift.is_valid() || to < 0 || to >= grid_.b_scans) continue;
        all.push_back({shift.z, shift.x, static_cast<float>(shift.quality), static_cast<std::int32_t>(row),
                       static_cast<std::int32_t>(to)});
    }
    used_ += std::ssize(all);
    std::ranges::stable_sort(all, {}, &LandingRow::to);
    return all;
}

// Each target B-scan is summed by one thread in the order of the source B-scans, so that results are reproducible.
void RegisteredMean::add(const PowerVolume& volume, const std::vector<RowShift>& rows) {
    const std::vector<LandingRow> all = landing(rows);
    const std::int64_t of_row = grid_.depth * grid_.a_scans;
    parallel_for(0, grid_.b_scans, [&](std::int64_t to) {
        const auto [begin, end] = std::ranges::equal_range(all, to, {}, &LandingRow::to);
        for (const LandingRow& one : std::ranges::subrange(begin, end)) {
            const Resampled resampled(volume.power.data() + one.row * of_row, grid_);
            resampled.add_to(sums_.data() + to * of_row, weights_.data() + to * of_row, one);
        }
    });
}

void RegisteredMean::add(const PowerOnGpu& volume, const std::vector<RowShift>& rows) {
    on_gpu_->add(volume.power, landing(rows));
}

void RegisteredMean::write_on_gpu(float* power) const {
    on_gpu_->write(power);
}

std::vector<float> RegisteredMean::power() const {
    std::vector<float> mean(index(grid_.voxels()));
    if (on_gpu_) {
        on_gpu_->write(mean.data());
        return mean;
    }
    parallel_for(0, grid_.b_scans, [&](std::int64_t b) {
        const std::int64_t of_row = grid_.depth * grid_.a_scans;
        for (auto at = index(b * of_row); at < index((b + 1) * of_row); ++at)
            mean[at] = weights_[at] > 0 ? sums_[at] / weights_[at] : std::numeric_limits<float>::quiet_NaN();
    });
    return mean;
}

Volume RegisteredMean::volume() const {
    constexpr float darkest = 1e-12F;  // floor of the dB scale, for samples clamped at zero
    const std::vector<float> mean_power = power();
    Volume mean;
    mean.grid = grid_;
    mean.grid.type = VoxelType::f32;
    mean.grid.scale = 1;
    mean.grid.offset = 0;
    mean.voxels.resize(index(mean.grid.bytes()));
    auto* const voxels = reinterpret_cast<float*>(mean.voxels.data());
    parallel_for(0, grid_.b_scans, [&](std::int64_t b) {
        const std::int64_t of_row = grid_.depth * grid_.a_scans;
        for (std::int64_t i = b * of_row; i < (b + 1) * of_row; ++i) {
            const float power = mean_power[index(i)];
            voxels[i] = std::isnan(power)               ? power
                        : grid_.quantity == "db"        ? 10 * std::log10(std::max(power, darkest))
                        : grid_.quantity == "amplitude" ? std::sqrt(power)
                                                        : power;
        }
    });
    return mean;
}

template <>
const std::vector<Field<RegistrationSettings>>& describe<RegistrationSettings>() {
    using S = RegistrationSettings;
    constexpr Effect effect = Effect::view;
    static const Fields<S> fields{
        integer("axial_range", &S::axial_range, 0, 4096, "depth rows", effect, "max shift in depth").in("Ranges"),
        integer("lateral_range", &S::lateral_range, 0, 4096, "A-scans", effect, "max shift along B-scans"),
        integer("row_range", &S::row_range, 0, 4096, "B-scans", effect, "max shift across B-scans"),
        integer("strip", &S::strip, 1, 31, "B-scans", effect,
                "B-scans compared together: more for noisy volumes, 1 for fast motion; odd")
            .odd(),
        number("min_quality", &S::min_quality, 0, 1, "", effect,
               "minimum correlation, as a fraction of the volume's median; B-scans below it are discarded"),
        number("saccade_speed", &S::saccade_speed, 0.01, 1000, "", effect,
               "min displacement between successive B-scans, in A-scans or B-scans, to be marked as a saccade"),
        integer("tissue_order", &S::tissue_order, 0, 8, "", effect,
                "single volume: order of the polynomial across B-scans that is attributed to tissue shape and kept (2: "
                "level, slope and curvature); all other depth changes count as motion")
            .in("Single volume"),
        integer("crosses", &S::crosses, 0, 4096, "B-scans", effect,
                "number of B-scans at the start of a volume that cross the others, for aligning a single volume; 0: as "
                "stated in the scan"),
    };
    return fields.list();
}

namespace {

// Size of the compared planes and their number.
struct ComparedPlanes {
    std::int64_t depth, a_scans, rows;
};

// Returns the correlation that noise reaches by chance at the best of all shifts, 6 sigma. After smoothing, an
// independent sample is about 30 voxels large.
double chance_of(const ComparedPlanes& planes, std::int64_t strip) {
    const auto samples = static_cast<double>(planes.depth * planes.a_scans * std::min(strip, planes.rows));
    return std::min(0.5, 6 * std::sqrt(30 / samples));
}

// Throws if B-scans are too small for registration.
void check_size(const VolumeGrid& grid) {
    constexpr std::int64_t min_depth = 16, min_a_scans = 8;
    if (grid.depth >= min_depth && grid.a_scans >= min_a_scans && grid.b_scans >= 1) return;
    throw Error(
        ErrorCode::bad_setting,
        "has " + plural(grid.depth, "depth rows") + " and " + plural(grid.a_scans, "A-scans") + ": too few to register",
        "registration", "at least 16 and 8 are needed");
}

// Returns the depth rows to keep around the tissue, so that shifts of half the range stay inside.
std::int64_t band_margin(const RegistrationSettings& settings) {
    return settings.axial_range / 2 + 16;
}

// Rejects the quantities that speckle filters reject. Without a quantity, voxels are taken as power; reflectivity is
// proportional to power.
void check_quantity(VolumeGrid grid) {
    const bool is_power = grid.quantity.empty() || grid.quantity == "reflectivity";
    // linear_intensity() rejects complex voxels
    if (is_power || grid.type == VoxelType::complex64) return;
    grid.b_scans = 0;
    try {
        power_of({grid, {}, {}}, StoredAs::automatic);
    } catch (const Error& error) {
        throw Error(error.code(), error.problem(), "registration", "register volumes of db, intensity or amplitude");
    }
}

// Returns the Gaussian mean over rows; end values extend beyond the ends.
std::vector<double> slow_part(const std::vector<double>& values, double sigma) {
    const std::int64_t count = std::ssize(values), reach = static_cast<std::int64_t>(std::ceil(3 * sigma));
    std::vector<double> slow(values.size());
    for (std::int64_t j = 0; j < count; ++j) {
        double sum = 0, weights = 0;
        for (std::int64_t d = -reach; d <= reach; ++d) {
            const double weight = std::exp(-static_cast<double>(d * d) / (2 * sigma * sigma));
            sum += weight * values[index(std::clamp<std::int64_t>(j + d, 0, count - 1))];
            weights += weight;
        }
        slow[index(j)] = sum / weights;
    }
    return slow;
}

// Returns the polynomial part of a path in depth, attributed to the shape of the tissue.
std::vector<double> shape_of(const std::vector<double>& path, std::int64_t order) {
    std::vector<double> rows(path.size()), shape;
    const double half = static_cast<double>(path.size() - 1) / 2;
    for (std::size_t j = 0; j < rows.size(); ++j) rows[j] = static_cast<double>(j) / half - 1;
    const PolynomialFit fit(rows, path, std::vector<double>(path.size(), 1.0), std::min(order, std::ssize(path) - 1));
    std::ranges::transform(rows, std::back_inserter(shape), fit);
    return shape;
}

// Matches all strips of a moving volume to the reference and judges the results.
std::vector<RowShift> matched(StripPairs& pairs, const ComparedPlanes& planes, const std::vector<float>& norms,
                              const RegistrationSettings& settings, Progress& progress) {
    const std::int64_t range = std::min(settings.row_range, planes.rows - 1);
    const auto places = match_strips(pairs, planes.depth, planes.a_scans, -range, range, settings, progress);
    return judged(places, norms, planes.rows, chance_of(planes, settings.strip), max_apart_on_a_path, settings);
}

// Throws if the volume cannot be aligned to its neighbours.
void check_neighbours(const VolumeGrid& grid, const RegistrationSettings& settings) {
    check_registration(settings);
    check_size(grid);
    if (grid.b_scans >= 3) return;
    throw Error(ErrorCode::bad_setting,
                "has " + plural(grid.b_scans, "B-scans") + ": there are no neighbours to compare with", "registration",
                "at least 3 are needed");
}

// Accumulates steps between neighbours. `pairs_of_rows` compares the volume with itself.
std::vector<RowShift> aligned(StripPairs& pairs_of_rows, const ComparedPlanes& planes, const std::vector<float>& norms,
                              const RegistrationSettings& settings, Progress& progress) {
    constexpr double any_step = std::numeric_limits<double>::infinity();  // no limit for steps between B-scans
    RegistrationSettings pairs = settings;
    pairs.strip = 1;
    const auto places = match_strips(pairs_of_rows, planes.depth, planes.a_scans, -1, -1, pairs, progress);
    std::vector<RowShift> rows = judged(places, norms, 1, chance_of(planes, 1), any_step, pairs);
    if (std::ranges::none_of(rows, &RowShift::is_valid)) return rows;
    std::vector<double> path_z, path_x;
    double z = 0, x = 0;
    for (std::size_t j = 0; j < rows.size(); ++j) {
        if (j > 0 && rows[j].is_valid()) {
            z += rows[j].z;
            x += rows[j].x;
        }
        rows[j].is_saccade = std::abs(rows[j].x) > settings.saccade_speed;
        path_z.push_back(z);
        path_x.push_back(x);
    }
    const double sigma = std::max(1.0, static_cast<double>(planes.rows) / 16);
    const std::vector<double> shape_z = shape_of(path_z, settings.tissue_order), slow_x = slow_part(path_x, sigma);
    for (std::size_t j = 0; j < rows.size(); ++j) {
        rows[j].z = path_z[j] - shape_z[j];
        rows[j].x = path_x[j] - slow_x[j];
        rows[j].y = 0;
    }
    // The first row has no predecessor and is the origin of the others.
    if (rows.front().reason == RowReason::no_overlap) {
        rows.front().reason = RowReason::ok;
        rows.front().quality = 1;
    }
    return rows;
}

}  // namespace

std::string_view name_of(RowReason reason) {
    constexpr std::array<std::string_view, 7> names{"ok",        "no_signal", "no_overlap",  "weak_match",
                                                    "ambiguous", "saccade",   "out_of_range"};
    return names.at(static_cast<std::size_t>(reason));
}

void check_registration(const RegistrationSettings& settings) {
    check(settings, "registration");
    if (settings.strip % 2 == 0) {
        throw Error(ErrorCode::bad_setting, "must be odd, so that a strip has a centre", "registration.strip");
    }
}

PowerVolume power_of(const Volume& volume) {
    check_quantity(volume.grid);
    constexpr std::int64_t each = 16;  // bytes per voxel: power, features, their transforms
    require_memory(each * volume.grid.voxels(), "registration", "register a part of the volume");
    return {volume.grid, linear_intensity(volume)};
}

PowerCopy::PowerCopy(const PowerVolume& volume, const BackendChoice& choice) : grid_(volume.grid) {
    const auto bytes = static_cast<std::int64_t>(volume.power.size() * sizeof(float));
    const std::int64_t free = free_device_memory(choice.gpu);
    constexpr std::int64_t each = 2;  // the volume and its features
    constexpr double gib = 1 << 30;
    if (each * bytes > free) {
        throw Error(ErrorCode::out_of_memory,
                    fmt::format("registration needs {:.1f} GiB of memory for a volume, the GPU has {:.1f} GiB free",
                                static_cast<double>(each * bytes) / gib, static_cast<double>(free) / gib),
                    "cuda", "register a part of the volume, close what else uses the GPU, or choose `backend` cpu");
    }
    memory_ = device_memory(bytes, choice.gpu);
    copy_memory(memory_.data, reinterpret_cast<const std::byte*>(volume.power.data()), bytes);
}

const BackendChoice Reference::on_cpu{.backend = Backend::cpu};

Reference::Reference(const PowerVolume& volume, const RegistrationSettings& settings, const BackendChoice& choice)
    : settings_(settings), grid_(volume.grid), choice_(choice) {
    check_registration(settings);
    check_size(grid_);
    used_ = on_gpu_or_cpu(
        choice, [&] { take(PowerCopy(volume, choice).on_gpu()); },
        [&] {
            gpu_.reset();
            band_ = tissue_band(volume, band_margin(settings));
            features_ = row_features(volume, band_);
        });
}

Reference::Reference(const PowerOnGpu& volume, const RegistrationSettings& settings, const BackendChoice& choice,
                     std::shared_ptr<RegistrationOnGpu> gpu)
    : settings_(settings), grid_(volume.grid), choice_(choice), used_{Backend::cuda}, gpu_(std::move(gpu)) {
    check_registration(settings);
    check_size(grid_);
    take(volume);
}

void Reference::take(const PowerOnGpu& volume) {
    if (!gpu_) gpu_ = required_gpu().registration(choice_);
    band_ = tissue_band_on_gpu(*gpu_, volume, band_margin(settings_));
    on_gpu_ = features_on_gpu(*gpu_, volume, band_);
}

void Reference::require_size(const VolumeGrid& grid) const {
    if (grid.depth == grid_.depth && grid.a_scans == grid_.a_scans && grid.b_scans == grid_.b_scans) return;
    throw Error(ErrorCode::bad_setting, "differs in size from the reference", "registration",
                "register volumes of the same scan protocol");
}

std::vector<RowShift> Reference::register_rows(const PowerVolume& volume, Progress& progress) const {
    require_size(volume.grid);
    if (gpu_) return register_rows(PowerCopy(volume, choice_).on_gpu(), progress);
    const RowFeatures moving = row_features(volume, band_);
    return matched(*pairs_on_cpu(features_, moving), {moving.depth, moving.a_scans, moving.rows}, moving.norms,
                   settings_, progress);
}

std::vector<RowShift> Reference::register_rows(const PowerOnGpu& volume, Progress& progress) const {
    require_size(volume.grid);
    if (!gpu_) throw Error(ErrorCode::device, "the reference of the registration is not on a GPU", "cuda");
    const auto moving = features_on_gpu(*gpu_, volume, band_);
    return matched(*pairs_on_gpu(*gpu_, *on_gpu_, *moving), {band_.end - band_.begin, grid_.a_scans, grid_.b_scans},
                   moving->norms(), settings_, progress);
}

std::vector<RowShift> align_neighbours(const PowerVolume& volume, const RegistrationSettings& settings,
                                       Progress& progress) {
    check_neighbours(volume.grid, settings);
    const RowFeatures features = row_features(volume, tissue_band(volume, band_margin(settings)));
    auto rows = aligned(*pairs_on_cpu(features, features), {features.depth, features.a_scans, features.rows},
                        features.norms, settings, progress);
    if (settings.crosses > 0) align_to_crosses(rows, features, settings, progress);
    return rows;
}

std::vector<RowShift> align_neighbours(const PowerOnGpu& volume, const RegistrationSettings& settings,
                                       Progress& progress, RegistrationOnGpu& gpu) {
    check_neighbours(volume.grid, settings);
    if (settings.crosses > 0) {
        throw Error(ErrorCode::bad_setting, "crossing B-scans can only be compared on the CPU", "registration.crosses",
                    "choose `backend` cpu");
    }
    const Interval band = tissue_band_on_gpu(gpu, volume, band_margin(settings));
    const auto features = features_on_gpu(gpu, volume, band);
    return aligned(*pairs_on_gpu(gpu, *features, *features),
                   {band.end - band.begin, volume.grid.a_scans, volume.grid.b_scans}, features->norms(), settings,
                   progress);
}

std::span<const RowShift> rows_of_raster(const std::vector<RowShift>& rows, std::int64_t crosses) {
    return std::span(rows).subspan(std::min(rows.size(), index(crosses)));
}

namespace {

constexpr std::int64_t wide = 4, narrow = 1;       // A-scans on either side that are averaged in a profile
constexpr std::int64_t lateral = 8, near_by = 10;  // search range for the same speckle: A-scans and lines; depth rows
constexpr float min_correlation = 0.3F;
constexpr double apart = 0.75;       // depth rows; max distance of agreeing crossings from their median
constexpr std::int64_t many = 16;    // crosses to use; more do not improve the result
constexpr std::int64_t bridged = 8;  // B-scans; longer gaps are not bridged
constexpr std::int64_t fewest = 2;   // min number of B-scans to align

// Returns means over `half` A-scans on either side of each, with mean 0 over depth and norm 1; 0 where the input is 0.
std::vector<float> profiles(const RowFeatures& features, std::int64_t row, std::int64_t half) {
    const std::int64_t depth = features.depth;
    std::vector<float> all(index(depth * features.a_scans), 0.0F);
    for (std::int64_t a = 0; a < features.a_scans; ++a) {
        const std::span<float> sum(all.data() + a * depth, index(depth));
        for (std::int64_t i = std::max<std::int64_t>(0, a - half); i <= std::min(features.a_scans - 1, a + half); ++i) {
            const float* line = features.row(row) + i * depth;
            for (std::size_t z = 0; z < sum.size(); ++z) sum[z] += line[z];
        }
        double mean = 0, square = 0;
        for (const float value : sum) mean += static_cast<double>(value) / static_cast<double>(depth);
        for (float& value : sum) {
            value -= static_cast<float>(mean);
            square += static_cast<double>(value) * static_cast<double>(value);
        }
        const auto scale = square > 0 ? static_cast<float>(1 / std::sqrt(square)) : 0.0F;
        for (float& value : sum) value *= scale;
    }
    return all;
}

// Converts point `index` of `count` evenly spaced points of the field to an index of `others` such points.
double place(std::int64_t index, std::int64_t count, std::int64_t others) {
    return (static_cast<double>(index) + 0.5) / static_cast<double>(count) * static_cast<double>(others) - 0.5;
}

// Returns the offset of the vertex of a parabola through three samples, within half a sample.
double parabola(float below, float at, float above) {
    const double curve = static_cast<double>(below) - 2 * static_cast<double>(at) + static_cast<double>(above);
    if (!(curve < 0)) return 0;
    return std::clamp(static_cast<double>(below - above) / (2 * curve), -0.5, 0.5);
}

// Shift of a B-scan against a cross at their intersection, in samples.
struct Crossing {
    double z = 0, x = 0;
    float correlation = 0;
};

// Profiles of the crosses, to which B-scans of the raster are matched.
class Crosses {
  public:
    Crosses(const RowFeatures& features, const RegistrationSettings& settings)
        : features_(features), settings_(settings), rows_(features.rows - settings.crosses) {
        const std::int64_t step = (settings.crosses + many - 1) / many;
        for (std::int64_t k = step / 2; k < settings.crosses; k += step)
            lines_.push_back({k, profiles(features, k, wide), profiles(features, k, narrow)});
    }

    std::int64_t count() const { return std::ssize(lines_); }

    // Returns the crossings of B-scan `j` of the raster with each cross; nullopt: no match.
    std::vector<std::optional<Crossing>> of_row(std::int64_t j) const {
        const std::int64_t row = settings_.crosses + j;
        if (features_.norms[index(row)] == 0) return std::vector<std::optional<Crossing>>(lines_.size());
        const std::vector<float> wide_here = profiles(features_, row, wide), here = profiles(features_, row, narrow);
        std::vector<std::optional<Crossing>> all;
        for (const Line& line : lines_) all.push_back(crossing(line, j, wide_here, here));
        return all;
    }

  private:
    struct Line {
        std::int64_t number;
        std::vector<float> wide, narrow;
    };

    const float* of(const std::vector<float>& all, std::int64_t a) const { return all.data() + a * features_.depth; }
    float correlation(const float* here, const float* there, std::int64_t shift) const {
        return overlap_product(there, here, features_.depth, 1, shift, 0);
    }

    // Matches the layers first and then the speckle around that depth. Rejects weak matches and those at the end of the
    // search range.
    std::optional<Crossing> crossing(const Line& line, std::int64_t j, const std::vector<float>& wide_here,
                                     const std::vector<float>& here) const {
        const std::int64_t a_scans = features_.a_scans;
        const double at_x = place(line.number, settings_.crosses, a_scans);
        const std::int64_t column = std::lround(at_x);
        const auto line_at = [&](std::int64_t row) { return std::lround(place(row, rows_, a_scans)); };
        const std::int64_t layers = best_shift(of(wide_here, column), of(line.wide, line_at(j)));
        struct {
            float height = -1;
            std::int64_t z = 0, a = 0, j = 0;
        } best;
        const std::int64_t reach_x = std::min(lateral, settings_.lateral_range);
        const std::int64_t reach_y = std::min(lateral, settings_.row_range);
        for (std::int64_t row = std::max<std::int64_t>(0, j - reach_y); row <= std::min(rows_ - 1, j + reach_y);
             ++row) {
            const float* there = of(line.narrow, line_at(row));
            for (std::int64_t a = std::max<std::int64_t>(0, column - reach_x);
                 a <= std::min(a_scans - 1, column + reach_x); ++a) {
                for (std::int64_t z = layers - near_by; z <= layers + near_by; ++z) {
                    const float height = correlation(of(here, a), there, z);
                    if (height > best.height) best = {height, z, a, row};
                }
            }
        }
        const bool is_at_the_end = std::abs(best.z - layers) == near_by ||
                                   (std::abs(best.a - column) == reach_x && reach_x > 0) ||
                                   (std::abs(best.j - j) == reach_y && reach_y > 0);
        if (best.height < min_correlation || is_at_the_end) return {};
        const float* there = of(line.narrow, line_at(best.j));
        const auto at = [&](std::int64_t a, std::int64_t z) { return correlation(of(here, a), there, z); };
        Crossing found{static_cast<double>(best.z), at_x - static_cast<double>(best.a), best.height};
        found.z += parabola(at(best.a, best.z - 1), best.height, at(best.a, best.z + 1));
        if (best.a > 0 && best.a + 1 < a_scans)
            found.x -= parabola(at(best.a - 1, best.z), best.height, at(best.a + 1, best.z));
        return found;
    }

    std::int64_t best_shift(const float* here, const float* there) const {
        float height = -1;
        std::int64_t best = 0;
        for (std::int64_t z = -settings_.axial_range; z <= settings_.axial_range; ++z) {
            const float one = correlation(here, there, z);
            if (one > height) {
                height = one;
                best = z;
            }
        }
        return best;
    }

    const RowFeatures& features_;
    const RegistrationSettings& settings_;
    std::int64_t rows_;
    std::vector<Line> lines_;
};

double median(std::vector<double> values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

using Table = std::vector<std::vector<std::optional<Crossing>>>;  // [row][cross]

// Removes the offset of each cross in `part` from the others, since each was scanned at another time. Alternates
// between medians over rows and over crosses.
void join(Table& table, double Crossing::*part) {
    constexpr int passes = 3;
    for (int pass = 0; pass < passes; ++pass) {
        std::vector<std::vector<double>> off(table.front().size());
        for (const auto& row : table) {
            std::vector<double> here;
            for (const auto& one : row) {
                if (one) here.push_back(*one.*part);
            }
            if (here.size() < 2) continue;
            const double middle = median(here);
            for (std::size_t k = 0; k < row.size(); ++k) {
                if (row[k]) off[k].push_back(*row[k].*part - middle);
            }
        }
        for (std::size_t k = 0; k < off.size(); ++k) {
            if (off[k].empty()) continue;
            const double shift = median(off[k]);
            for (auto& row : table) {
                if (row[k]) *row[k].*part -= shift;
            }
        }
    }
}

// Returns the mean of the crossings that agree in depth; nullopt if fewer than half of them do.
std::optional<Crossing> agreed(const std::vector<std::optional<Crossing>>& row) {
    std::vector<double> depths;
    for (const auto& one : row) {
        if (one) depths.push_back(one->z);
    }
    if (depths.empty()) return {};
    const double middle = median(depths);
    Crossing sum;
    int count = 0;
    for (const auto& one : row) {
        if (!one || std::abs(one->z - middle) > apart) continue;
        sum = {sum.z + one->z, sum.x + one->x, sum.correlation + one->correlation};
        ++count;
    }
    if (2 * count < std::ssize(row)) return {};
    return Crossing{sum.z / count, sum.x / count, sum.correlation / static_cast<float>(count)};
}

// Removes wrong matches: those whose difference from the neighbours' shifts deviates from the B-scans around them.
void drop_mistaken(std::vector<std::optional<Crossing>>& found, const std::vector<RowShift>& neighbours) {
    constexpr std::int64_t around = 3;
    const std::vector<std::optional<Crossing>> all = found;
    const auto is_mistaken = [&](std::size_t at, double Crossing::*part, double RowShift::*of_neighbours, double most) {
        const auto j = static_cast<std::int64_t>(at);
        const auto off = [&](std::size_t i) { return *all[i].*part - neighbours[i].*of_neighbours; };
        std::vector<double> near;
        for (std::int64_t i = std::max<std::int64_t>(0, j - around); i <= std::min(std::ssize(all) - 1, j + around);
             ++i) {
            if (all[index(i)]) near.push_back(off(index(i)));
        }
        return std::abs(off(at) - median(std::move(near))) > most;
    };
    for (std::size_t j = 0; j < all.size(); ++j) {
        if (!all[j]) continue;
        if (is_mistaken(j, &Crossing::z, &RowShift::z, 1) || is_mistaken(j, &Crossing::x, &RowShift::x, 2))
            found[j].reset();
    }
}

// Stores a match in a row.
void set(RowShift& row, const Crossing& found) {
    row.z = found.z;
    row.x = found.x;
    row.y = 0;
    row.quality = static_cast<double>(found.correlation);
    row.reason = RowReason::ok;
}

// Marks the row as not matched. Keeps the reason of a row that was invalid before.
void lose(RowShift& row) {
    row.quality = 0;
    if (row.is_valid()) row.reason = RowReason::weak_match;
}

// Interpolates the rows between `begin` and `end`, which were both found, by the neighbours' shifts and the drift
// between the two. Longer or open gaps become invalid.
void bridge(std::span<RowShift> rows, const std::vector<std::optional<Crossing>>& found, std::int64_t begin,
            std::int64_t end, const std::vector<RowShift>& neighbours) {
    const auto off = [&](std::int64_t j) {
        const auto at = index(j);
        return std::pair(found[at]->z - neighbours[at].z, found[at]->x - neighbours[at].x);
    };
    const bool is_gap_short = begin >= 0 && end < std::ssize(rows) && end - begin <= bridged;
    for (std::int64_t j = begin + 1; j < end; ++j) {
        RowShift& row = rows[index(j)];
        if (!is_gap_short || !row.is_valid()) {
            lose(row);
            continue;
        }
        const double part = static_cast<double>(j - begin) / static_cast<double>(end - begin);
        const auto [z0, x0] = off(begin);
        const auto [z1, x1] = off(end);
        row.z += z0 + part * (z1 - z0);
        row.x += x0 + part * (x1 - x0);
        row.y = 0;
    }
}

// Throws if too few B-scans are left after the crosses.
void require_others(std::int64_t b_scans, std::int64_t crosses) {
    if (crosses >= 0 && b_scans - crosses >= fewest) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("{} of {} are crossing B-scans: too few others remain to align", crosses,
                            plural(b_scans, "B-scans")),
                "registration.crosses", "set it to the number of crossing B-scans at the start of a volume");
}

// Returns whether a volume was scanned with protocol raster_cross.
bool has_crosses(const std::map<std::string, std::string>& provenance) {
    const auto protocol = provenance.find("scan.protocol");
    return protocol != provenance.end() && protocol->second == "\"raster_cross\"";
}

}  // namespace

void align_to_crosses(std::vector<RowShift>& rows, const RowFeatures& features, const RegistrationSettings& settings,
                      Progress& progress) {
    const std::int64_t count = features.rows - settings.crosses;
    require_others(features.rows, settings.crosses);
    const Crosses crosses(features, settings);
    Table table(index(count));
    constexpr std::int64_t together = 16;
    for (std::int64_t first = 0; first < count; first += together) {
        progress.advance(0);  // throws if cancelled
        parallel_for(first, std::min(first + together, count),
                     [&](std::int64_t j) { table[index(j)] = crosses.of_row(j); });
    }
    join(table, &Crossing::z);
    join(table, &Crossing::x);
    std::vector<std::optional<Crossing>> found;
    for (const auto& row : table) found.push_back(agreed(row));
    for (std::int64_t k = 0; k < settings.crosses; ++k) rows[index(k)] = {.quality = 1};
    const std::vector<RowShift> neighbours(rows.begin() + settings.crosses, rows.end());
    drop_mistaken(found, neighbours);
    const std::span raster(rows.begin() + settings.crosses, rows.end());
    if (2 * std::ranges::count_if(found, [](const auto& one) { return one.has_value(); }) < count) {
        std::ranges::for_each(raster, lose);
        return;
    }
    std::int64_t last = -1;
    for (std::int64_t j = 0; j <= count; ++j) {
        if (j < count && !found[index(j)]) continue;
        bridge(raster, found, last, j, neighbours);
        if (j < count) set(raster[index(j)], *found[index(j)]);
        last = j;
    }
}

std::int64_t crosses_of(const std::map<std::string, std::string>& provenance) {
    if (!has_crosses(provenance)) return 0;
    ScanGeometry scan;
    Settings settings;
    settings.bind("scan", scan);
    try {
        if (const auto entry = provenance.find("scan.crosses"); entry != provenance.end())
            settings.set(entry->first, entry->second);
    } catch (const Error& error) {
        throw Error(ErrorCode::bad_file, "scan.crosses in its provenance: " + error.problem(), "registration",
                    "set registration.crosses");
    }
    return scan.crosses;
}

PowerVolume raster_of(const Volume& volume) {
    return without_crosses(power_of(volume), crosses_of(volume.provenance));
}

void forget_crosses(std::map<std::string, std::string>& provenance) {
    if (has_crosses(provenance)) provenance.erase("scan.protocol");
}

PowerVolume without_crosses(PowerVolume volume, std::int64_t crosses) {
    if (crosses == 0) return volume;
    require_others(volume.grid.b_scans, crosses);
    volume.grid.b_scans -= crosses;
    volume.power.erase(volume.power.begin(), volume.power.begin() + crosses * volume.grid.a_scans * volume.grid.depth);
    return volume;
}

}  // namespace echolux
