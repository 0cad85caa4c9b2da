#include "engine/registration/registration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/analysis/intensity.h"
#include "engine/memory_budget.h"
#include "engine/registration/strips.h"
#include "engine/speckle/filter_volume.h"

namespace echolux {

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
               "A-scans or B-scans from one B-scan to the next from which on it counts as one in a saccade"),
    };
    return fields;
}

namespace {

// What noise correlates by chance at the best of all shifts, 6 sigma: independent samples are about 30 voxels large
// once they are smoothed.
double chance_of(const RowFeatures& features, std::int64_t strip) {
    const auto samples = static_cast<double>(features.depth * features.a_scans * std::min(strip, features.rows));
    return std::min(0.5, 6 * std::sqrt(30 / samples));
}

void check_size(const VolumeGrid& grid) {
    constexpr std::int64_t min_depth = 16, min_a_scans = 8;
    if (grid.depth >= min_depth && grid.a_scans >= min_a_scans && grid.b_scans >= 1) return;
    throw Error(ErrorCode::bad_setting,
                "has " + counted(grid.depth, "depth rows") + " and " + counted(grid.a_scans, "A-scans") +
                    ": too few to be registered",
                "registration", "16 and 8 are the least");
}

Interval band_of(const PowerVolume& volume, const RegistrationSettings& settings) {
    return tissue_band(volume, settings.axial_range / 2 + 16);
}

// Refuses what the filters refuse. A volume that does not say what it holds is taken as power, and so is reflectivity,
// which is proportional to it.
void check_quantity(VolumeGrid grid) {
    const bool is_power = grid.quantity.empty() || grid.quantity == "reflectivity";
    if (is_power || grid.type == VoxelType::complex64) return;  // linear_intensity() refuses complex voxels
    grid.b_scans = 0;
    try {
        power_of({grid, {}, {}}, StoredAs::automatic);
    } catch (const Error& error) {
        throw Error(error.code(), error.problem(), "registration", "register volumes of db, intensity or amplitude");
    }
}

// Gaussian mean over the rows, those at the ends going on as they are.
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
    constexpr std::int64_t each = 16;  // bytes a voxel: power, features, what is made of them
    require_memory(each * volume.grid.voxels(), "registration", "register a part of the volume");
    return {volume.grid, linear_intensity(volume)};
}

Reference::Reference(const PowerVolume& volume, const RegistrationSettings& settings)
    : settings_(settings), grid_(volume.grid) {
    check_registration(settings);
    check_size(grid_);
    band_ = band_of(volume, settings);
    features_ = row_features(volume, band_);
}

std::vector<RowShift> Reference::register_rows(const PowerVolume& volume, Progress& progress) const {
    const VolumeGrid& grid = volume.grid;
    if (grid.depth != grid_.depth || grid.a_scans != grid_.a_scans || grid.b_scans != grid_.b_scans) {
        throw Error(ErrorCode::bad_setting, "is of another size than the reference", "registration",
                    "register volumes of one scan protocol");
    }
    const RowFeatures moving = row_features(volume, band_);
    const std::int64_t range = std::min(settings_.row_range, grid.b_scans - 1);
    const auto places = match_strips(features_, moving, -range, range, settings_, progress);
    return judged(places, moving, grid.b_scans, chance_of(moving, settings_.strip), max_apart_on_a_path, settings_);
}

std::vector<RowShift> align_neighbours(const PowerVolume& volume, const RegistrationSettings& settings,
                                       Progress& progress) {
    check_registration(settings);
    check_size(volume.grid);
    const std::int64_t b_scans = volume.grid.b_scans;
    if (b_scans < 3) {
        throw Error(ErrorCode::bad_setting,
                    "has " + counted(b_scans, "B-scans") + ": there are no neighbours to compare with", "registration",
                    "3 are the least");
    }
    const RowFeatures features = row_features(volume, band_of(volume, settings));
    constexpr double any_step = std::numeric_limits<double>::infinity();  // from one B-scan to the next
    RegistrationSettings pairs = settings;
    pairs.strip = 1;
    const auto places = match_strips(features, features, -1, -1, pairs, progress);
    std::vector<RowShift> rows = judged(places, features, 1, chance_of(features, 1), any_step, pairs);
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
    const double sigma = std::max(1.0, static_cast<double>(b_scans) / 16);
    const std::vector<double> slow_z = slow_part(path_z, sigma), slow_x = slow_part(path_x, sigma);
    for (std::size_t j = 0; j < rows.size(); ++j) {
        rows[j].z = path_z[j] - slow_z[j];
        rows[j].x = path_x[j] - slow_x[j];
        rows[j].y = 0;
    }
    if (rows.front().reason == RowReason::no_overlap) {  // nothing lies before it: the others follow it
        rows.front().reason = RowReason::ok;
        rows.front().quality = 1;
    }
    return rows;
}

}  // namespace echolux
