#include "app/open/convert_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include "app/open/open_volume.h"
#include "compute/error.h"
#include "compute/plural.h"
#include "engine/scan/time_points.h"

namespace echolux {

namespace {

// Returns 0 if the key is missing.
std::int64_t number_in(const std::map<std::string, std::string>& texts, const std::string& key) {
    const auto found = texts.find(key);
    std::int64_t number = 0;
    if (found != texts.end()) {
        std::from_chars(found->second.data(), found->second.data() + found->second.size(), number);
    }
    return number;
}

bool are_alike(const VolumeGrid& a, const VolumeGrid& b) {
    return a.depth == b.depth && a.a_scans == b.a_scans && a.type == b.type && a.scale == b.scale &&
           a.offset == b.offset && a.unit == b.unit && a.quantity == b.quantity;
}

}  // namespace

// A file with B-scans from `first` on, numbered as in the scan.
struct ConvertInput::Part {
    std::int64_t step, volume, first, b_scans;
    std::int64_t start;  // position in the concatenation of all time points
};

void ConvertInput::require_joined(const std::vector<Part>& parts, const std::string& name) {
    std::int64_t slices = 0, length = 0, first_length = 0;  // B-scans per position; of this volume and of the first
    for (std::size_t i = 0; i < parts.size(); ++i) {
        length += parts[i].b_scans;
        const bool ends = i + 1 == parts.size() || parts[i + 1].volume != parts[i].volume;
        if (ends) {
            first_length = first_length == 0 ? length : first_length;
            if (length != first_length) {
                throw Error(ErrorCode::bad_file, "holds parts of volumes of unequal length", name,
                            "name the parts of one volume by a pattern");
            }
            length = 0;
            continue;
        }
        const std::int64_t positions = parts[i + 1].first - parts[i].first;
        const bool joins = positions > 0 && parts[i].b_scans % positions == 0 &&
                           (slices == 0 || slices == parts[i].b_scans / positions);
        if (!joins) {
            throw Error(ErrorCode::bad_file,
                        fmt::format("holds parts of one volume that do not join: {} from {} on, then B-scan {}",
                                    plural(parts[i].b_scans, "B-scans"), parts[i].first, parts[i + 1].first),
                        name, "reconstruct what is missing, or name the parts that join by a pattern");
        }
        slices = parts[i].b_scans / positions;
    }
}

ConvertInput::ConvertInput(const std::filesystem::path& path) {
    std::error_code problem;
    const bool several = is_pattern(path) || (std::filesystem::is_directory(path, problem) && !is_volume_name(path));
    if (!several && !is_volume_name(path)) {
        throw Error(ErrorCode::bad_setting, "is not a volume", path.string(),
                    "`reconstruct` makes volumes from scans, `guess` examines unknown raw files");
    }
    if (!several) {
        file_ = std::make_unique<SeriesFile>(path);
        header_ = file_->header();
        return;
    }
    files_ = std::make_unique<TimePoints>(path, true);
    header_ = {files_->grid(), files_->count(), files_->step_s(), {}, {}};
    find_parts();
}

ConvertInput::ConvertInput(std::shared_ptr<const Volume> held)
    : held_(std::move(held)), header_{.grid = held_->grid, .provenance = held_->provenance} {}

ConvertInput::~ConvertInput() = default;

// Handles files of one scan that each state their volume and first B-scan. If several belong to one volume, they are
// parts. The number of B-scans per position (repeats) follows from the start of the next part.
void ConvertInput::find_parts() {
    std::vector<Part> all;
    for (std::int64_t step = 0; step < files_->count(); ++step) {
        const auto texts = files_->provenance({step, step + 1});
        if (!texts.contains("first_b_scan")) return files_->require_one_size();
        all.push_back(
            {step, number_in(texts, "volume"), number_in(texts, "first_b_scan"), files_->grid(step).b_scans, 0});
    }
    std::ranges::sort(all, {}, [](const Part& part) { return std::tuple(part.volume, part.first); });
    const auto of_one = [](const Part& a, const Part& b) { return a.volume == b.volume; };
    const auto texts = files_->provenance({0, files_->count()});
    const bool is_one_scan = texts.contains("source") && texts.at("source").find("; ") == std::string::npos;
    if (!is_one_scan || std::ranges::adjacent_find(all, of_one) == all.end()) return files_->require_one_size();
    require_joined(all, files_->name());
    order_ = std::move(all);
    header_.time_points = 0;
    std::int64_t start = 0;
    for (Part& part : order_) {
        if (&part == &order_.front() || part.volume != (&part - 1)->volume) ++header_.time_points;
        part.start = start;
        start += part.b_scans;
    }
    header_.grid.b_scans = start / header_.time_points;
    parts_ = std::ssize(order_) / header_.time_points;
}

SeriesHeader ConvertInput::header(const Interval& time_points) const {
    SeriesHeader header = header_;
    if (!files_) return header;
    if (order_.empty()) {
        header.provenance = files_->provenance(time_points);
        return header;
    }
    header.provenance = files_->provenance({order_.front().step, order_.front().step + 1});
    return header;
}

std::int64_t ConvertInput::b_scans_together() const {
    if (file_) return file_->b_scans_together();
    if (order_.empty()) return header_.grid.b_scans;
    return std::ranges::max(order_, {}, &Part::b_scans).b_scans;
}

const Volume& ConvertInput::volume(std::int64_t step) {
    if (step != kept_) volume_ = files_->read(step);
    kept_ = step;
    if (are_alike(volume_.grid, header_.grid)) return volume_;
    throw Error(ErrorCode::bad_file,
                fmt::format("time point {} differs from the first in size, type or meaning of its codes", step),
                files_->name(), "time points of one series must be alike");
}

std::vector<std::byte> ConvertInput::read(std::int64_t time_point, Interval b_scans) {
    if (file_) return file_->read(time_point, b_scans);
    const VolumeGrid& grid = header_.grid;
    const std::int64_t slice = grid.depth * grid.a_scans * bytes_of(grid.type);
    if (held_) {
        const auto all = held_->voxels.begin();
        return {all + b_scans.begin * slice, all + b_scans.end * slice};
    }
    if (order_.empty()) return volume(time_point).voxels;
    std::vector<std::byte> voxels;
    const std::int64_t begin = time_point * grid.b_scans + b_scans.begin, end = begin + b_scans.end - b_scans.begin;
    for (const Part& part : order_) {
        const std::int64_t first = std::max(begin, part.start), last = std::min(end, part.start + part.b_scans);
        if (first >= last) continue;
        const std::vector<std::byte>& from = volume(part.step).voxels;
        voxels.insert(voxels.end(), from.begin() + (first - part.start) * slice,
                      from.begin() + (last - part.start) * slice);
    }
    return voxels;
}

}  // namespace echolux
