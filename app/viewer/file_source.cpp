#include "app/viewer/file_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"

namespace echolux {

// ---- A time point, or a coarser level of it, that the renderer reads from its file box by box.

namespace {

constexpr std::int64_t voxels_looked_at = 1 << 21;  // sampled for percentiles

class SeriesVoxels : public VoxelSource {
  public:
    SeriesVoxels(const Series& series, std::int64_t step, std::size_t level)
        : series_(series), step_(step), level_(level), grid_(series.levels(step).at(level)) {}

    const VolumeGrid& grid() const override { return grid_; }

    void read(const VoxelBox& box, std::byte* codes) const override {
        const auto along = [&](std::size_t axis) {
            return Interval{box.first[axis], box.first[axis] + box.extent[axis]};
        };
        const std::vector<std::byte> read = series_.read_box(step_, level_, {along(0), along(1), along(2)});
        std::ranges::copy(read, codes);
    }

    // Reading all voxels of a large file takes too long, so use the finest level that is quick to read, or some B-scans
    // if there is only one level.
    ValueRange range() const override {
        const std::vector<VolumeGrid> levels = series_.levels(step_);
        std::size_t coarse = level_;
        while (coarse + 1 < levels.size() && levels[coarse].voxels() > voxels_looked_at) ++coarse;
        VolumeGrid some = levels[coarse];
        const std::int64_t slices = some.b_scans;
        const std::int64_t slice = some.depth * some.a_scans;
        some.b_scans = std::clamp<std::int64_t>(voxels_looked_at / slice, 1, slices);
        std::vector<std::byte> voxels;
        for (std::int64_t i = 0; i < some.b_scans; ++i) {
            const std::int64_t at = i * slices / some.b_scans;
            const std::vector<std::byte> one =
                series_.read_box(step_, coarse, {{0, some.depth}, {0, some.a_scans}, {at, at + 1}});
            voxels.insert(voxels.end(), one.begin(), one.end());
        }
        return voxels_in_memory(some, voxels.data())->range();
    }

  private:
    const Series& series_;
    std::int64_t step_;
    std::size_t level_;
    VolumeGrid grid_;
};

// Reads are serialised, because the file has one reader. `series` must outlive the result.
std::shared_ptr<const VoxelSource> voxels_of(const Series& series, std::int64_t step, std::size_t level) {
    return std::make_shared<SeriesVoxels>(series, step, level);
}

}  // namespace

// ---- View source

constexpr std::int64_t max_coarse_bytes = 256LL << 20;  // of the coarse version shown first for large volumes

FileSource::FileSource(std::shared_ptr<OpenSeries> series, Renderer& renderer)
    : ViewSource(renderer), series_state_(std::move(series)) {
    const Series& of = series_state_->series;
    std::optional<std::pair<std::int64_t, StepsAhead::Step>> first;
    if (!of.is_in_boxes()) {
        show(std::make_shared<const OnDevice>(first_shown()));
        first.emplace(shown_->step, StepsAhead::Step{shown_, shown_->grid.bytes()});
    } else if (std::optional<OnDevice> coarse = coarse_one()) {
        show(std::make_shared<const OnDevice>(std::move(*coarse)));
    }
    ahead_ = std::make_unique<StepsAhead>(
        of.steps(), series_state_->budget.gpu_bytes, [this](std::int64_t step) { return bring(step); },
        std::move(first), [this](std::int64_t step) { return can_bring(step); });
}

// Returns the current time point or, if it cannot be read, the first that can.
FileSource::OnDevice FileSource::first_shown() {
    Series& series = series_state_->series;
    const auto is_there = [&](std::int64_t step) {
        const auto volume = series.volume(step);
        return volume && *volume;
    };
    std::int64_t step = series_state_->timeline.shown();
    if (!is_there(step)) step = series.ready().empty() ? series.first_ready() : series.ready().front().begin;
    const std::shared_ptr<const Volume> volume = series.read(step);
    return on_device(volume, step);
}

// Returns the finest resolution level that can be read quickly.
std::optional<FileSource::OnDevice> FileSource::coarse_one() {
    const Series& series = series_state_->series;
    const std::int64_t step = std::max<std::int64_t>(series_state_->timeline.step(), 0);
    const std::vector<VolumeGrid> levels = series.levels(step);
    const auto is_small = [](const VolumeGrid& grid) { return grid.bytes() <= max_coarse_bytes; };
    const auto level = std::ranges::find_if(levels, is_small);
    if (level == levels.end()) return {};
    return on_device(voxels_of(series, step, index(level - levels.begin())), -1);
}

// Used by one thread at a time: first the constructor's, then the loading thread.
FileSource::OnDevice FileSource::on_device(const std::shared_ptr<const VoxelSource>& voxels, std::int64_t step) {
    const auto all = static_cast<double>(voxels->grid().voxels());
    std::int64_t done = 0;
    const auto on_read = [&](std::int64_t more) { share_read_ = static_cast<double>(done += more) / all; };
    std::shared_ptr<PreparedVolume> volume = renderer_.prepare(voxels, series_state_->chosen, on_read);
    if (!series_state_->chosen) series_state_->chosen = fixed_range(*volume);
    return {std::move(volume), voxels->grid(), {}, step};
}

FileSource::OnDevice FileSource::on_device(const std::shared_ptr<const Volume>& volume, std::int64_t step) {
    OnDevice made = on_device(voxels_in_memory(volume->grid, volume->voxels.data(), volume), step);
    const auto found = volume->provenance.find("orientation");
    if (found != volume->provenance.end()) made.orientation = found->second;
    return made;
}

// Runs on the loading thread.
StepsAhead::Step FileSource::bring(std::int64_t step) {
    const Series& series = series_state_->series;
    share_read_ = 0;
    if (series.is_in_boxes()) {
        auto made = std::make_shared<const OnDevice>(on_device(voxels_of(series, step, 0), step));
        return {std::move(made), series_state_->budget.gpu_bytes};  // its pages use all available memory
    }
    const std::shared_ptr<const Volume> volume = series.read(step);
    auto made = std::make_shared<const OnDevice>(on_device(volume, step));
    return {std::move(made), volume->grid.bytes()};
}

bool FileSource::can_bring(std::int64_t step) const {
    const auto volume = series_state_->series.volume(step);
    return series_state_->series.is_in_boxes() || (volume && *volume);
}

bool FileSource::is_bad(std::int64_t step) const {
    const auto volume = series_state_->series.volume(step);
    const auto here = ahead_->find(step);
    return (volume && !*volume) || (here && !*here);
}

std::optional<VolumeGrid> FileSource::own_grid() const {
    if (!shown_) return {};
    return shown_->grid;
}

Timeline* FileSource::timeline() {
    return series_state_->series.steps() > 1 ? &series_state_->timeline : nullptr;
}

// Shows the newest loaded step among those due. If the disk is too slow for every step, some are skipped.
void FileSource::update_own(double now_s) {
    Timeline& timeline = series_state_->timeline;
    timeline.advance(now_s);
    const std::int64_t wanted = timeline.step();
    if (wanted != wanted_) direction_ = wanted < wanted_ && !timeline.plays() ? -1 : 1;
    wanted_ = wanted;
    series_state_->series.want(wanted, direction_, timeline.first(), timeline.last());
    ahead_->want(wanted, direction_, {timeline.first(), timeline.last() + 1});
    for (std::int64_t ago = 0; ago < timeline.waiting(); ++ago) {
        const std::int64_t step = timeline.step_ago(ago);
        if (shown_ && step == shown_->step) return;
        if (const auto found = ahead_->find(step); found && *found)
            return show(std::static_pointer_cast<const OnDevice>(*found));
    }
}

// Height maps do not apply to volumes of another shape.
void FileSource::show(std::shared_ptr<const OnDevice> next) {
    renderer_.show(next->volume);
    if (has_heights_ && !(shown_ && shown_->grid == next->grid)) set_heights({});
    const auto before = std::exchange(shown_, std::move(next));
    if (ahead_ && before) ahead_->release_later(before);
}

void FileSource::show_again() {
    if (shown_) renderer_.show(shown_->volume);
}

std::optional<PanePicture> FileSource::follow(const View& view, double now_s, std::size_t pane) {
    if (!grid()) return {};
    const PanePicture picture = renderer_.follow(view, now_s, pane);
    if (!shows_derived() && shown_->step >= 0) series_state_->timeline.note_shown(shown_->step, now_s);
    return picture;
}

void FileSource::set_heights(const HeightMaps& maps) {
    renderer_.set_heights(maps);
    has_heights_ = !maps.empty();
}

PendingVolume FileSource::begin_reading_own() {
    if (!shown_ || shown_->step < 0) return {};
    return [staged = series_state_, step = shown_->step] { return staged->series.read(step); };
}

std::optional<VolumeStamp> FileSource::stamp() const {
    if (!shown_) return {};
    const std::int64_t step = std::max<std::int64_t>(shown_->step, 0);
    const Timeline& time = series_state_->timeline;
    return VolumeStamp{step, time.has_times() ? static_cast<double>(step) * time.step_s() : 0};
}

std::optional<Loading> FileSource::loading() const {
    const std::int64_t step = series_state_->timeline.step();
    if ((shown_ && shown_->step == step) || is_bad(step)) return {};
    return Loading{step, series_state_->series.is_in_boxes() ? std::optional(share_read_.load()) : std::nullopt};
}

std::optional<ValueRange> FileSource::chosen_range() const {
    if (!shown_ || series_state_->series.steps() == 1) return {};
    return fixed_range(*shown_->volume);
}

std::vector<std::string> FileSource::take_problems() {
    std::vector<std::string> problems = series_state_->series.take_problems();
    for (std::string& line : ahead_->take_problems()) problems.push_back(std::move(line));
    for (std::string& line : ViewSource::take_problems()) problems.push_back(std::move(line));
    return problems;
}

}  // namespace echolux
