#include "engine/series.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "compute/error.h"
#include "engine/read_ahead.h"

namespace echolux {
namespace {

bool is_digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// The digits at the beginning.
std::string_view number_in_front(std::string_view text) {
    const auto end = std::ranges::find_if_not(text, is_digit) - text.begin();
    return text.substr(0, static_cast<std::size_t>(end));
}

std::string_view without_zeros(std::string_view digits) {
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
}

// As people count: scan2 before scan10.
bool is_before(std::string_view a, std::string_view b) {
    while (!a.empty() && !b.empty()) {
        const std::string_view first = number_in_front(a), second = number_in_front(b);
        if (first.empty() || second.empty()) {
            if (a.front() != b.front()) return a.front() < b.front();
            a.remove_prefix(1), b.remove_prefix(1);
            continue;
        }
        const std::string_view m = without_zeros(first), n = without_zeros(second);
        if (m != n) return m.size() != n.size() ? m.size() < n.size() : m < n;
        a.remove_prefix(first.size()), b.remove_prefix(second.size());
    }
    return a.size() < b.size();
}

std::vector<std::filesystem::path> volumes_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    std::error_code problem;
    for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
        if (entry.is_regular_file(problem) && is_volume_name(entry.path())) files.push_back(entry.path());
    }
    if (files.empty()) {
        throw Error(ErrorCode::bad_file, "holds no volume files", folder.string(),
                    "volumes are .nrrd, .nii, .nii.gz, .tif, .mha or .mhd");
    }
    std::ranges::sort(
        files, [](const auto& a, const auto& b) { return is_before(a.filename().string(), b.filename().string()); });
    return files;
}

// Where time points are read: one file with all of them, or one file each.
struct TimePoints {
    explicit TimePoints(const std::filesystem::path& path) {
        if (std::filesystem::is_directory(path)) files = volumes_in(path);
        if (files.size() <= 1) file = std::make_shared<SeriesFile>(files.empty() ? path : files.front());
    }

    std::int64_t count() const { return file ? file->time_points() : static_cast<std::int64_t>(files.size()); }
    double step_s() const { return file ? file->step_s() : 0; }
    Volume read(std::int64_t step) const {
        return file ? file->read(step) : read_volume(files[static_cast<std::size_t>(step)]);
    }

    std::vector<std::filesystem::path> files;
    std::shared_ptr<SeriesFile> file;
};

}  // namespace

struct Series::Parts {
    Parts(const std::filesystem::path& path, const SeriesBudget& budget)
        : points(path), name((path.has_filename() ? path : path.parent_path()).filename().string()),
          ahead(points.count(), budget.bytes, points.read(0), [this](std::int64_t step) { return points.read(step); }) {
    }

    const TimePoints points;
    const std::string name;
    ReadAhead ahead;
};

Series::Series(const std::filesystem::path& path, const SeriesBudget& budget)
    : parts_(std::make_unique<Parts>(path, budget)) {}

Series::~Series() = default;

std::int64_t Series::steps() const {
    return parts_->points.count();
}

double Series::step_s() const {
    return parts_->points.step_s();
}

std::string Series::name() const {
    return parts_->name;
}

void Series::want(std::int64_t step, int direction, std::int64_t first, std::int64_t last) {
    parts_->ahead.want(step, direction, {first, last + 1});
}

std::optional<std::shared_ptr<const Volume>> Series::volume(std::int64_t step) const {
    return parts_->ahead.volume(step);
}

std::vector<Interval> Series::ready() const {
    return parts_->ahead.ready();
}

std::vector<std::string> Series::take_problems() {
    return parts_->ahead.take_problems();
}

}  // namespace echolux
