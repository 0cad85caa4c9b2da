#include "engine/scan/time_points.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/io/file_name.h"
#include "engine/memory.h"

namespace echolux {
namespace {

// Crops a box for formats that read only whole B-scans.
std::vector<std::byte> cropped(SeriesFile& file, std::int64_t time_point, const VolumeBox& box) {
    const VolumeGrid& grid = file.header().grid;
    const auto is_inside = [](const Interval& part, std::int64_t size) {
        return part.begin >= 0 && part.begin < part.end && part.end <= size;
    };
    if (!is_inside(box.depth, grid.depth) || !is_inside(box.a_scans, grid.a_scans) ||
        !is_inside(box.b_scans, grid.b_scans)) {
        throw Error(ErrorCode::bad_setting, "is outside the volume", "region");
    }
    const auto voxel = index(bytes_of(grid.type));
    const auto line = index(box.depth.end - box.depth.begin) * voxel;
    const std::int64_t lines = box.a_scans.end - box.a_scans.begin;
    require_memory((box.b_scans.end - box.b_scans.begin) * lines * static_cast<std::int64_t>(line), "region",
                   "read a smaller region");
    std::vector<std::byte> voxels;
    voxels.reserve(index((box.b_scans.end - box.b_scans.begin) * lines) * line);
    const std::int64_t together = file.b_scans_together();
    for (std::int64_t begin = box.b_scans.begin, end = 0; begin < box.b_scans.end; begin = end) {
        end = std::min((begin / together + 1) * together, box.b_scans.end);
        const std::vector<std::byte> whole = file.read(time_point, {begin, end});
        for (std::int64_t b = 0; b < end - begin; ++b) {
            for (std::int64_t a = box.a_scans.begin; a < box.a_scans.end; ++a) {
                const auto at = index((b * grid.a_scans + a) * grid.depth + box.depth.begin) * voxel;
                const auto* from = whole.data() + at;
                voxels.insert(voxels.end(), from, from + line);
            }
        }
    }
    return voxels;
}

// Matches wildcards in time proportional to the product of the lengths for any pattern: on a mismatch, only the last *
// is extended.
bool fits(std::string_view pattern, std::string_view name) {
    constexpr auto none = std::string_view::npos;
    std::size_t p = 0, n = 0, star = none, from = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            from = n;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
            ++p, ++n;
        } else if (star != none) {
            p = star + 1;
            n = ++from;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == none;
}

std::vector<std::filesystem::path> volumes_in(const std::filesystem::path& folder, std::string_view pattern) {
    std::vector<std::filesystem::path> files;
    std::error_code problem;
    for (std::filesystem::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
        const std::filesystem::path& path = at->path();
        if (fits(pattern, path.filename().string()) && is_volume_name(path)) files.push_back(path);
    }
    std::ranges::sort(files, is_before_naturally_named);
    return files;
}

}  // namespace

std::vector<std::filesystem::path> volumes_of(const std::filesystem::path& path) {
    std::error_code problem;
    if (is_pattern(path)) {
        const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
        auto files = volumes_in(folder, path.filename().string());
        if (!files.empty()) return files;
        throw Error(ErrorCode::bad_file, "no volume file matches this pattern", path.string(),
                    "* matches any text, ? any letter");
    }
    if (is_volume_name(path) || !std::filesystem::is_directory(path, problem)) return {path};
    auto files = volumes_in(path, "*");
    if (!files.empty()) return files;
    throw Error(
        ErrorCode::bad_file, "contains no volume files", path.string(),
        remedy_for_folder(path, "volumes are .nrrd, .nii, .nii.gz, .tif, .mha, .mhd, .h5, .ome.zarr and the like"));
}

std::string remedy_for_folder(const std::filesystem::path& folder, const std::string& otherwise) {
    std::error_code problem;
    std::vector<std::filesystem::path> scans;
    for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
        if (entry.path().extension() == ".toml") scans.push_back(entry.path());
    }
    if (scans.empty()) return otherwise;
    return "did you mean \"" + std::ranges::min(scans).string() + "\"?";
}

bool is_pattern(const std::filesystem::path& path) {
    std::error_code problem;
    return path.filename().string().find_first_of("*?") != std::string::npos && !std::filesystem::exists(path, problem);
}

// Unreadable files do not hide the others; common properties are taken from the first readable file.
TimePoints::TimePoints(const std::filesystem::path& path, bool may_differ)
    : name_((path.has_filename() ? path : path.parent_path()).filename().string()), files_(volumes_of(path)) {
    std::exception_ptr problem;
    for (std::int64_t step = 0; step < std::ssize(files_); ++step) {
        std::shared_ptr<SeriesFile> file;
        try {
            file = file_of(step);
        } catch (const Error&) {
            if (!problem) problem = std::current_exception();
            continue;
        }
        if (!first_) {
            first_ = file;
            first_step_ = step;
        }
        require_alike(step, file->header().grid, may_differ);
    }
    if (!first_) std::rethrow_exception(problem);
    std::erase_if(open_, [this](const OpenFile& open) { return open.step != first_step_; });  // only headers were read
    if (files_.size() == 1) files_.clear();
}

TimePoints::~TimePoints() = default;

void TimePoints::require_alike(std::int64_t step, const VolumeGrid& other, bool may_differ) const {
    const VolumeGrid& one = first_->header().grid;
    const auto size = [](const VolumeGrid& grid) {
        return fmt::format("{} x {} x {}", grid.depth, grid.a_scans, grid.b_scans);
    };
    const bool is_alike = one.depth == other.depth && one.a_scans == other.a_scans && one.type == other.type &&
                          (may_differ || one.b_scans == other.b_scans);
    if (is_alike) return;
    const auto name = [&](std::int64_t s) { return files_[index(s)].filename().string(); };
    throw Error(ErrorCode::bad_file,
                fmt::format("contains volumes of different sizes or types, so it is not a series: {} is {}, {} is {}{}",
                            name(first_step_), size(one), name(step), size(other),
                            one.type == other.type ? "" : " with other voxels"),
                name_, "name one of them, or those that belong together by a pattern (\"t_*.nrrd\")");
}

void TimePoints::require_one_size() const {
    for (std::int64_t step = 0; step < std::ssize(files_); ++step) require_alike(step, grid(step), false);
}

VolumeGrid TimePoints::grid(std::int64_t step) const {
    const std::scoped_lock lock(mutex_);
    try {
        return file_of(step)->header().grid;
    } catch (const Error&) {  // reported when it is read
        return first_->header().grid;
    }
}

std::map<std::string, std::string> TimePoints::provenance(const Interval& steps) const {
    const std::scoped_lock lock(mutex_);
    if (files_.empty()) return first_->header().provenance;
    std::vector<std::map<std::string, std::string>> all;
    std::set<std::string> keys;
    for (std::int64_t step = steps.begin; step < steps.end; ++step) {
        try {
            all.push_back(file_of(step)->header().provenance);
        } catch (const Error&) {
            all.emplace_back();  // reported when it is read
        }
        for (const auto& [key, value] : all.back()) keys.insert(key);
    }
    std::map<std::string, std::string> joined;
    for (const std::string& key : keys) {
        std::vector<std::string> values;
        for (const auto& of_one : all) values.push_back(of_one.contains(key) ? of_one.at(key) : "-");
        const bool is_one = std::ranges::adjacent_find(values, std::not_equal_to{}) == values.end();
        joined[key] = is_one ? values.front() : fmt::format("{}", fmt::join(values, "; "));
    }
    return joined;
}

std::int64_t TimePoints::count() const {
    return files_.empty() ? first_->time_points() : std::ssize(files_);
}

double TimePoints::step_s() const {
    return files_.empty() ? first_->step_s() : 0;
}

// The caller holds the mutex.
std::shared_ptr<SeriesFile> TimePoints::file_of(std::int64_t step) const {
    if (files_.empty()) return first_;
    const auto found = std::ranges::find(open_, step, &OpenFile::step);
    if (found != open_.end()) {
        std::rotate(open_.begin(), found, found + 1);
    } else {
        auto file = std::make_shared<SeriesFile>(files_[index(step)]);
        if (open_.size() == max_open) open_.pop_back();
        open_.insert(open_.begin(), {step, std::move(file)});
    }
    return open_.front().file;
}

Volume TimePoints::read(std::int64_t step) const {
    const std::scoped_lock lock(mutex_);
    return file_of(step)->read(within_file(step));
}

double TimePoints::time_s(std::int64_t step) const {
    const std::vector<double>& times = first_->header().times_s;
    if (files_.empty() && step < std::ssize(times)) return times[index(step)];
    return static_cast<double>(step) * step_s();
}

std::vector<std::byte> TimePoints::read_part(std::int64_t step, std::size_t level, const VolumeBox& box) const {
    const std::scoped_lock lock(mutex_);
    SeriesFile& file = *file_of(step);
    if (level > 0 || file.reads_boxes()) return file.read_box(within_file(step), level, box);
    return cropped(file, within_file(step), box);
}

std::vector<VolumeGrid> TimePoints::levels(std::int64_t step) const {
    const std::scoped_lock lock(mutex_);
    return file_of(step)->levels();
}

std::vector<std::byte> TimePoints::read_box(std::int64_t step, std::size_t level, const VolumeBox& box) const {
    const std::scoped_lock lock(mutex_);
    return file_of(step)->read_box(within_file(step), level, box);
}

}  // namespace echolux
