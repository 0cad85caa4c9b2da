#include "app/operations/series_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/analysis/intensity.h"
#include "engine/memory.h"

namespace echolux {

VolumeSeries::VolumeSeries(const VolumeInput& input) {
    for (const auto& held : input.held) points_.push_back({"volume", held->grid, held, nullptr, 0});
    for (const std::string& name : input.names) {
        files_.push_back(std::make_unique<ConvertInput>(name));
        const SeriesHeader& header = files_.back()->header();
        for (std::int64_t t = 0; t < header.time_points; ++t)
            points_.push_back({name, header.grid, nullptr, files_.back().get(), t});
    }
}

std::shared_ptr<const Volume> VolumeSeries::Point::read() const {
    if (held != nullptr) return held;
    return std::make_shared<const Volume>(Volume{grid, file->read(time_point, {0, grid.b_scans}), {}});
}

std::vector<std::byte> VolumeSeries::Point::read(Interval b_scans) const {
    if (held == nullptr) return file->read(time_point, b_scans);
    const auto at = [&](std::int64_t b) { return held->voxels.begin() + b * grid.b_scan_bytes(); };
    return {at(b_scans.begin), at(b_scans.end)};
}

void require_growing(const std::vector<double>& times_s, ErrorCode code, const std::string& where) {
    const auto here = std::ranges::adjacent_find(times_s, std::greater_equal{});
    if (here == times_s.end()) return;
    throw Error(code,
                fmt::format("the times of its volumes are not ascending: {:g} s is followed by {:g} s", *here,
                            *std::next(here)),
                where, "give the time between volumes as `step_s`");
}

double SeriesTimes::since_start(std::int64_t number) const {
    if (!times_s.empty()) return times_s.at(static_cast<std::size_t>(number)) - times_s.front();
    if (number == 0) return 0;
    return step_s > 0 ? static_cast<double>(number) * step_s : std::numeric_limits<double>::quiet_NaN();
}

SeriesTimes times_of(const VolumeSeries& series, double step_s, const std::vector<double>& times_s) {
    SeriesTimes times{step_s > 0 ? step_s : series.step_s()};
    if (step_s > 0) return times;
    if (times_s.empty()) {
        if (series.only_file() == nullptr) return times;
        times.times_s = series.only_file()->header().times_s;
        require_growing(times.times_s, ErrorCode::bad_file, series.points().front().name);
        return times;
    }
    if (std::ssize(times_s) != series.count()) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("expected {}, got {}", plural(series.count(), "times"), times_s.size()), "times_s",
                    "give the start of each volume");
    }
    require_growing(times_s, ErrorCode::bad_setting, "times_s");
    times.times_s = times_s;
    if (series.count() > 1) times.step_s = (times_s.back() - times_s.front()) / static_cast<double>(series.count() - 1);
    return times;
}

Moments::Moments(const VolumeInput& input, const MomentOptions& options, std::int64_t min_count)
    : series_(checked(input)), name_(input.name()), stored_as_(input.stored_as), grid_(series_.grid()) {
    take_stored_geometry(series_.provenance(), name_, scan_, beam_);
    require_alike();
    find_repeats(options.repeats);
    if (count() < min_count) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("holds {}, at least {} are needed", plural(count(), "moments"), min_count), name_,
                    "give a longer series, or a volume with repeats that were not averaged");
    }
    find_times(options.step_s);
}

const std::vector<double>& Moments::times_s() const {
    if (std::ssize(times_s_) == count()) return times_s_;
    throw Error(ErrorCode::bad_setting, "the time between its moments is unknown", name_,
                "give it in seconds as `step_s`");
}

bool Moments::are_even() const {
    constexpr double tolerance = 0.05;
    const std::vector<double>& times = times_s();
    const double step = mean_step_s();
    for (std::size_t t = 1; t < times.size(); ++t) {
        if (std::abs(times[t] - times[t - 1] - step) > tolerance * step) return false;
    }
    return true;
}

double Moments::step_s() const {
    if (are_even()) return mean_step_s();
    throw Error(ErrorCode::bad_setting, "its moments are not evenly spaced in time", name_,
                "choose evenly spaced volumes, or give the step as `step_s`");
}

double Moments::a_scan_s() const {
    if (of_a_scans_ || scan_.line_rate_hz <= 0) return 0;
    return static_cast<double>(scan_.a_repeats) / scan_.line_rate_hz;
}

std::int64_t Moments::b_scans_together() const {
    constexpr std::int64_t memory = std::int64_t{64} << 20;
    return std::clamp<std::int64_t>(memory / std::max<std::int64_t>(1, count() * grid_.b_scan_bytes()), 1,
                                    grid_.b_scans);
}

std::vector<Volume> Moments::read(Interval b_scans) const {
    VolumeGrid part = grid_;
    part.b_scans = b_scans.end - b_scans.begin;
    constexpr std::int64_t copies = 4;  // as read, as numbers, and results
    require_memory(copies * count() * part.bytes(), plural(count(), "moments") + " of " + name_, "crop it first");
    std::vector<Volume> all;
    if (volumes() > 1) {
        for (const VolumeSeries::Point& point : series_.points()) all.push_back({part, point.read(b_scans), {}});
    } else {
        for (std::int64_t r = 0; r < repeats_; ++r) all.push_back({part, {}, {}});
        const std::int64_t factor = of_a_scans_ ? 1 : repeats_;
        deal(series_.points().front().read({b_scans.begin * factor, b_scans.end * factor}), all);
    }
    for (Volume& volume : all) state_quantity(volume, stored_as_);
    return all;
}

const VolumeInput& Moments::checked(const VolumeInput& input) {
    for (const std::string& name : input.names) {
        if (!is_scan_name(name)) continue;
        throw Error(ErrorCode::bad_setting, "is a scan, but volumes are needed", name, "`reconstruct` makes them");
    }
    return input;
}

void Moments::require_alike() const {
    for (const VolumeSeries::Point& point : series_.points()) {
        if (point.grid == grid_) continue;
        throw Error(ErrorCode::bad_setting, "differs in size, type or spacing from the first volume", point.name,
                    "give volumes of the same reconstruction");
    }
}

void Moments::find_repeats(std::int64_t given) {
    const bool has_all = grid_.b_scans == scan_.b_scans * scan_.b_repeats && scan_.b_repeats > 1;
    const bool has_lines = grid_.a_scans == scan_.a_scans * scan_.a_repeats && scan_.a_repeats > 1;
    if (volumes() > 1) {
        if (given > 0) {
            throw Error(ErrorCode::bad_setting,
                        fmt::format("is a series of {}, which are its moments", plural(volumes(), "volumes")), name_,
                        "leave out `repeats`, or choose one volume");
        }
        if (!has_all && !has_lines) return;
        throw Error(ErrorCode::bad_setting, "is a series of volumes that hold repeats too", name_,
                    "choose one volume, or average the repeats with recipe.average");
    }
    of_a_scans_ = given == 0 && !has_all && has_lines;
    repeats_ = given > 0 ? given : has_all ? scan_.b_repeats : has_lines ? scan_.a_repeats : 1;
    std::int64_t& along = of_a_scans_ ? grid_.a_scans : grid_.b_scans;
    if (along % repeats_ != 0) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("has {}, which are not groups of {}", plural(along, "B-scans"), repeats_), name_,
                    "correct `repeats`");
    }
    along /= repeats_;
    grid_.spacing_um[of_a_scans_ ? 1 : 2] *= static_cast<double>(repeats_);
}

void Moments::find_times(double given_s) {
    double step = given_s > 0 ? given_s : volumes() > 1 ? series_.step_s() : 0;
    if (volumes() > 1 && given_s == 0 && series_.only_file() != nullptr) {
        times_s_ = series_.only_file()->header().times_s;
        require_growing(times_s_, ErrorCode::bad_file, name_);
    }
    if (volumes() == 1 && given_s == 0 && scan_.line_rate_hz > 0)
        step = static_cast<double>(of_a_scans_ ? 1 : scan_.lines_per_frame()) / scan_.line_rate_hz;
    if (times_s_.empty() && step > 0) {
        for (std::int64_t t = 0; t < count(); ++t) times_s_.push_back(step * static_cast<double>(t));
    }
    for (std::size_t t = times_s_.size(); t-- > 0;) times_s_[t] -= times_s_.front();
}

void Moments::deal(const std::vector<std::byte>& voxels, std::vector<Volume>& all) const {
    const std::int64_t bytes = of_a_scans_ ? grid_.a_scan_bytes() : grid_.b_scan_bytes();
    for (std::int64_t at = 0; at * bytes < std::ssize(voxels); ++at) {
        std::vector<std::byte>& to = all[index(at % repeats_)].voxels;
        to.insert(to.end(), voxels.begin() + at * bytes, voxels.begin() + (at + 1) * bytes);
    }
}

std::vector<std::complex<float>> field_of(const Volume& volume, const std::string& name) {
    if (volume.grid.type != VoxelType::complex64) {
        throw Error(ErrorCode::bad_setting, "its voxels are not complex, so they have no phase", name,
                    "reconstruct with recipe.quantity = complex");
    }
    std::vector<std::complex<float>> field(index(volume.grid.voxels()));
    std::memcpy(field.data(), volume.voxels.data(), volume.voxels.size());
    return field;
}

std::vector<float> intensity_of(const Volume& volume, const std::string& name) {
    if (volume.grid.type != VoxelType::complex64) return linear_intensity(volume);
    std::vector<float> power;
    for (const std::complex<float>& voxel : field_of(volume, name)) power.push_back(std::norm(voxel));
    return power;
}

std::int64_t chosen_b_scan(std::int64_t b_scan, const VolumeGrid& grid) {
    if (b_scan < 0) return grid.b_scans / 2;
    if (b_scan < grid.b_scans) return b_scan;
    throw Error(ErrorCode::bad_setting, fmt::format("there is no B-scan {}", b_scan), "b_scan",
                fmt::format("the B-scans are 0 to {}", grid.b_scans - 1));
}

VolumeGrid map_grid(VolumeGrid grid) {
    grid.type = VoxelType::f32;
    grid.scale = 1;
    grid.offset = grid.v_max = 0;
    return grid;
}

Figure map_plane(const std::vector<float>& map, const VolumeGrid& grid, std::int64_t b_scan) {
    Figure plane{grid.a_scans, grid.depth, {}, grid.spacing_um[1], grid.spacing_um[0]};
    for (std::int64_t z = 0; z < grid.depth; ++z) {
        for (std::int64_t a = 0; a < grid.a_scans; ++a)
            plane.values.push_back(map[index((b_scan * grid.a_scans + a) * grid.depth + z)]);
    }
    return plane;
}

}  // namespace echolux
