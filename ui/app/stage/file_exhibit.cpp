#include "ui/app/stage/file_exhibit.h"

#include <utility>

#include "compute/error.h"

namespace echolux {

// Where it was, or the first that can be read.
FileExhibit::FileExhibit(std::shared_ptr<StagedSeries> series, Renderer& renderer)
    : staged_(std::move(series)), renderer_(renderer) {
    const std::vector<Interval> ready = staged_->series.ready();
    if (!is_there(staged_->timeline.shown()) && ready.empty())
        throw Error(ErrorCode::bad_file, "no time point is in memory", name(), "open it again");
    step_ = is_there(staged_->timeline.shown()) ? staged_->timeline.shown() : ready.front().begin;
    shown_ = *staged_->series.volume(step_);
    renderer_.set_volume(voxels());
}

bool FileExhibit::is_there(std::int64_t step) const {
    const auto volume = staged_->series.volume(step);
    return volume && *volume;
}

std::shared_ptr<const VoxelSource> FileExhibit::voxels() const {
    return voxels_in_memory(shown_->grid, shown_->voxels.data(), shown_);
}

Timeline* FileExhibit::timeline() {
    return staged_->series.steps() > 1 ? &staged_->timeline : nullptr;
}

// The newest of the steps whose turn has come: a disk that is too slow for the due one shows those that it can.
void FileExhibit::update(double now_s) {
    Timeline& timeline = staged_->timeline;
    timeline.advance(now_s);
    const std::int64_t wanted = timeline.step();
    if (wanted != wanted_) direction_ = wanted < wanted_ && !timeline.plays() ? -1 : 1;
    wanted_ = wanted;
    staged_->series.want(wanted, direction_, timeline.first(), timeline.last());
    for (std::int64_t ago = 0; ago < timeline.waiting(); ++ago) {
        const std::int64_t step = timeline.step_ago(ago);
        if (step == step_) return;
        if (refused_.contains(step) || !is_there(step)) continue;
        return show(step);
    }
}

void FileExhibit::show(std::int64_t step) {
    const std::shared_ptr<const Volume> before = std::exchange(shown_, *staged_->series.volume(step));
    try {
        if (renderer_.is_in_pages())
            renderer_.set_volume(voxels());
        else
            renderer_.next_volume(shown_->grid, shown_->voxels.data());
        step_ = step;
    } catch (const Error& error) {
        shown_ = before;
        if (error.code() == ErrorCode::device) throw;
        refused_.insert(step);
        problems_.push_back(error.line());
    }
}

std::optional<FollowedPicture> FileExhibit::follow(const View& view, double now_s, std::size_t pane) {
    const FollowedPicture picture = renderer_.follow(view, now_s, pane);
    staged_->timeline.note_shown(step_, now_s);
    return picture;
}

std::optional<Probe> FileExhibit::probe(const View& view, std::int64_t x, std::int64_t y) {
    return renderer_.probe(view, x, y);
}

void FileExhibit::set_heights(const HeightMaps& maps) {
    renderer_.set_heights(maps);
    has_heights_ = !maps.empty();
}

std::vector<std::string> FileExhibit::take_problems() {
    std::vector<std::string> problems = staged_->series.take_problems();
    for (std::string& line : std::exchange(problems_, {})) problems.push_back(std::move(line));
    return problems;
}

}  // namespace echolux
