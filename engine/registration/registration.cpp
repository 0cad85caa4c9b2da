#include "engine/registration/registration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "compute/calibrate/fitting.h"
#include "compute/counted.h"
#include "compute/error.h"
#include "compute/parallel_for.h"
#include "compute/place.h"
#include "compute/plan/describe.h"
#include "compute/steps/registration.h"
#include "engine/analysis/intensity.h"
#include "engine/memory_budget.h"
#include "engine/registration/crosses.h"
#include "engine/registration/strips.h"
#include "engine/speckle/filter_volume.h"

namespace echolux {

// Formats shifts as CSV.

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

// Mean of registered volumes. Resamples with cubic B-splines (M. Unser, IEEE Signal Processing Magazine 16(6), 1999),
// because the blur of linear interpolation would look like the effect of averaging.

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
        std::vector<float> line(static_cast<std::size_t>(grid_.depth));
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
                    value += taps_z.cubic.weight[i] * line[static_cast<std::size_t>(taps_z.tap(z, i, grid_.depth))];
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
                if (is_lost_[static_cast<std::size_t>(line + taps_z.tap(z, k, grid_.depth))]) return true;
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
    : grid_(reference), sums_(static_cast<std::size_t>(reference.voxels()), 0.0F),
      weights_(static_cast<std::size_t>(reference.voxels()), 0.0F) {}

RegisteredMean::RegisteredMean(const VolumeGrid& reference, const BackendChoice& choice)
    : grid_(reference),
      on_gpu_(registration_on_gpu(choice)->mean({reference.depth, reference.a_scans, reference.b_scans})) {}

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
        const RowShift& shift = rows[static_cast<std::size_t>(row)];
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
    std::vector<float> mean(static_cast<std::size_t>(grid_.voxels()));
    if (on_gpu_) {
        on_gpu_->write(mean.data());
        return mean;
    }
    parallel_for(0, grid_.b_scans, [&](std::int64_t b) {
        const std::int64_t of_row = grid_.depth * grid_.a_scans;
        for (auto at = static_cast<std::size_t>(b * of_row); at < static_cast<std::size_t>((b + 1) * of_row); ++at)
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
    mean.voxels.resize(static_cast<std::size_t>(mean.grid.bytes()));
    auto* const voxels = reinterpret_cast<float*>(mean.voxels.data());
    parallel_for(0, grid_.b_scans, [&](std::int64_t b) {
        const std::int64_t of_row = grid_.depth * grid_.a_scans;
        for (std::int64_t i = b * of_row; i < (b + 1) * of_row; ++i) {
            const float power = mean_power[static_cast<std::size_t>(i)];
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
    static const std::vector<Field<S>> fields{
        integer("axial_range", &S::axial_range, 0, 4096, "depth rows", effect, "largest shift in depth"),
        integer("lateral_range", &S::lateral_range, 0, 4096, "A-scans", effect, "largest shift along B-scans"),
        integer("row_range", &S::row_range, 0, 4096, "B-scans", effect, "largest shift across B-scans"),
        integer("strip", &S::strip, 1, 31, "B-scans", effect,
                "B-scans that are compared together: more for noisy volumes, 1 where motion is fast; odd"),
        number("min_quality", &S::min_quality, 0, 1, "", effect,
               "correlation below which a B-scan is left out, as part of the volume's median"),
        number("saccade_speed", &S::saccade_speed, 0.01, 1000, "", effect,
               "displacement from one B-scan to the next, in A-scans or B-scans, from which on it is marked as in a "
               "saccade"),
        integer("tissue_order", &S::tissue_order, 0, 8, "", effect,
                "in a single volume, steps in depth that a polynomial of this order across B-scans explains are taken "
                "for the tissue's shape and stay (2: level, slope and bow); all others for motion"),
        integer("crosses", &S::crosses, 0, 4096, "B-scans", effect,
                "first B-scans of a volume that run across the others, by which a single volume is aligned; 0: as many "
                "as the scan says that the volume was made of"),
    };
    return fields;
}

namespace {

// Size of the compared planes and their number.
struct PlanesCompared {
    std::int64_t depth, a_scans, rows;
};

// Returns the correlation that noise reaches by chance at the best of all shifts, 6 sigma. After smoothing, an
// independent sample is about 30 voxels large.
double chance_of(const PlanesCompared& planes, std::int64_t strip) {
    const auto samples = static_cast<double>(planes.depth * planes.a_scans * std::min(strip, planes.rows));
    return std::min(0.5, 6 * std::sqrt(30 / samples));
}

// Throws if B-scans are too small for registration.
void check_size(const VolumeGrid& grid) {
    constexpr std::int64_t min_depth = 16, min_a_scans = 8;
    if (grid.depth >= min_depth && grid.a_scans >= min_a_scans && grid.b_scans >= 1) return;
    throw Error(ErrorCode::bad_setting,
                "has " + counted(grid.depth, "depth rows") + " and " + counted(grid.a_scans, "A-scans") +
                    ": too few to be registered",
                "registration", "16 and 8 are the least");
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
            sum += weight * values[static_cast<std::size_t>(std::clamp<std::int64_t>(j + d, 0, count - 1))];
            weights += weight;
        }
        slow[static_cast<std::size_t>(j)] = sum / weights;
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
std::vector<RowShift> matched(StripPairs& pairs, const PlanesCompared& planes, const std::vector<float>& norms,
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
                "has " + counted(grid.b_scans, "B-scans") + ": there are no neighbours to compare with", "registration",
                "3 are the least");
}

// Accumulates steps between neighbours. `pairs_of_rows` compares the volume with itself.
std::vector<RowShift> aligned(StripPairs& pairs_of_rows, const PlanesCompared& planes, const std::vector<float>& norms,
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
        throw Error(ErrorCode::bad_setting, "has to be odd, so that a strip has a middle", "registration.strip");
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
    if (!gpu_) gpu_ = registration_on_gpu(choice_);
    band_ = tissue_band_on_gpu(*gpu_, volume, band_margin(settings_));
    on_gpu_ = features_on_gpu(*gpu_, volume, band_);
}

void Reference::require_size(const VolumeGrid& grid) const {
    if (grid.depth == grid_.depth && grid.a_scans == grid_.a_scans && grid.b_scans == grid_.b_scans) return;
    throw Error(ErrorCode::bad_setting, "is of another size than the reference", "registration",
                "register volumes of one scan protocol");
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
        throw Error(ErrorCode::bad_setting, "B-scans across are compared on the CPU alone", "registration.crosses",
                    "choose `backend` cpu");
    }
    const Interval band = tissue_band_on_gpu(gpu, volume, band_margin(settings));
    const auto features = features_on_gpu(gpu, volume, band);
    return aligned(*pairs_on_gpu(gpu, *features, *features),
                   {band.end - band.begin, volume.grid.a_scans, volume.grid.b_scans}, features->norms(), settings,
                   progress);
}

std::span<const RowShift> rows_of_raster(const std::vector<RowShift>& rows, std::int64_t crosses) {
    return std::span(rows).subspan(std::min(rows.size(), static_cast<std::size_t>(crosses)));
}

}  // namespace echolux
