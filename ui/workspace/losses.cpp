#include "ui/workspace/losses.h"

#include <fmt/format.h>
#include <algorithm>

#include "app/viewer/view_source.h"
#include "compute/plural.h"

namespace echolux {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

// Blocks that are new since the last call. Counters restart with each run of the source and each recording.
std::int64_t added(std::int64_t& known, std::int64_t now) {
    const std::int64_t more = now < known ? now : now - known;
    known = now;
    return more;
}

}  // namespace

void Losses::update(Viewer& viewer) {
    ViewSource* view_source = viewer.view_source();
    if (view_source == nullptr) {
        *this = Losses();
        return;
    }
    if (life_.lock() != view_source->life().lock()) {
        *this = Losses();
        life_ = view_source->life();
        volumes_ = unseen_ = total_ = std::ssize(view_source->incomplete_steps());
    }
    const LiveController* live = view_source->live();
    if (live != nullptr && !live->is_recorded()) follow(live->stats());
}

void Losses::follow(const LiveStats& stats) {
    if (stats.seconds < seconds_) {  // started again
        all_.clear();
        selected_ = none;
    }
    seconds_ = stats.seconds;
    const std::int64_t of_recording =
        stats.recorder ? stats.recorder->missing_blocks + stats.recorder->refused_blocks : 0;
    const std::int64_t lost =
        added(source_, stats.arrived.lost_blocks + stats.arrived.misshapen_blocks) + added(recorder_, of_recording);
    if (lost <= 0) return;
    unseen_ += lost;
    total_ += lost;
    constexpr double merged_s = 1;  // one marker for losses this close together
    constexpr std::size_t max_losses = 1000;
    if (!all_.empty() && stats.seconds - all_.back().at_s < merged_s) {
        all_.back().blocks += lost;
        return;
    }
    all_.push_back({stats.seconds, stats.arrived.volumes, lost});
    if (all_.size() <= max_losses) return;
    all_.pop_front();
    if (selected_ != none && selected_ > 0) --selected_;
}

std::string Losses::short_text() const {
    return fmt::format("{} {}", unseen_, volumes_ > 0 ? "incomplete" : "lost");
}

std::string Losses::text() const {
    if (volumes_ > 0) return fmt::format("{} incomplete", unseen_);
    const std::string all = unseen_ < total_ ? fmt::format(" ({} in all)", total_) : "";
    return plural(unseen_, "blocks") + " lost" + all;
}

void Losses::show_next(Viewer& viewer) {
    if (!all_.empty()) selected_ = selected_ == none ? 0 : (selected_ + 1) % all_.size();
    ViewSource* view_source = viewer.view_source();
    Timeline* timeline = view_source == nullptr ? nullptr : view_source->timeline();
    const std::vector<std::int64_t> steps =
        timeline == nullptr ? std::vector<std::int64_t>() : view_source->incomplete_steps();
    if (steps.empty()) return;
    const auto next = std::ranges::upper_bound(steps, timeline->step());
    timeline->pause();
    timeline->go_to(next == steps.end() ? steps.front() : *next);
}

}  // namespace echolux
