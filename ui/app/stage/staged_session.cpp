#include "ui/app/stage/staged_session.h"

#include <utility>

#include "compute/error.h"
#include "compute/validate.h"
#include "engine/noise_floor.h"
#include "engine/reconstruction.h"
#include "ui/app/live_source.h"

namespace echolux {
namespace {

std::optional<Timeline> timeline_of(const ScanPlayer* player) {
    if (player == nullptr || player->scan().geometry.volumes < 2) return {};
    return Timeline(player->scan().geometry.volumes, player->volume_s());
}

}  // namespace

StagedSession::StagedSession(std::unique_ptr<Source> source, const ReconstructionPlan& plan)
    : source_(std::move(source)), player_(dynamic_cast<ScanPlayer*>(source_.get())), plan_(plan),
      first_floor_db_(plan.recipe.noise_floor_db), recipe_(scan().recipe), flow_(scan().flow),
      timeline_(timeline_of(player_)), session_(*source_, to_display_) {}

StagedSession::~StagedSession() = default;

// Of a scan as `reconstruct` measures it; live from what came last.
void StagedSession::complete(ReconstructionPlan& plan) const {
    if (!needs_noise_floor(plan.recipe, plan.flow)) return;
    plan.recipe.noise_floor_db = first_floor_db_;
    if (player_ != nullptr) {
        Scan scan = player_->scan();
        scan.calibration = plan.calibration;
        scan.recipe = plan.recipe;
        scan.recipe.noise_floor_db = 0;
        scan.flow = plan.flow;
        plan.recipe.noise_floor_db = noise_floor_of(scan);
    } else if (const std::optional<Block> block = session_.newest_block()) {
        plan.recipe.noise_floor_db = 0;
        plan.recipe.noise_floor_db = noise_floor_for_recipe(plan, *block);
    }
}

void StagedSession::attach(VolumePath& display) {
    display_ = &display;
    to_display_.attach(display);
    try {
        begin_to_show();
    } catch (...) {
        detach();
        throw;
    }
}

// On a new display, what was on the one before: a scan sends it again, of a source the last volume is kept.
void StagedSession::begin_to_show() {
    if (!std::exchange(has_run_, true))
        session_.start();
    else if (player_ != nullptr)
        player_->show(asked_);
    else
        session_.change(plan_);
}

void StagedSession::detach() {
    to_display_.detach();
    display_ = nullptr;
}

void StagedSession::update(double now_s) {
    if (player_ == nullptr) return;
    std::int64_t wanted = asked_;
    if (timeline_) {
        timeline_->advance(now_s);
        wanted = timeline_->step();
    }
    const bool keeps_volumes = player_->pool_blocks() == 0;
    const std::int64_t changes = keeps_volumes ? 0 : session_.figures().changes;
    if (wanted == asked_ && changes == changes_) return;
    asked_ = wanted;
    changes_ = changes;
    player_->show(wanted);
}

void StagedSession::note_drawn(std::int64_t volume, double now_s) {
    if (timeline_) timeline_->note_shown(step_of(volume), now_s);
}

std::int64_t StagedSession::step_of(std::int64_t volume) const {
    return player_ == nullptr ? volume : player_->shown_by(volume).value_or(asked_);
}

bool StagedSession::is_running() const {
    const SessionFigures figures = session_.figures();
    return figures.running && !figures.ended;
}

void StagedSession::start() {
    session_.start();
}

void StagedSession::record(const std::filesystem::path& scan_toml) {
    if (is_recorded()) {
        throw Error(ErrorCode::bad_setting, "is a recording already", scan().path.string(), "copy its files");
    }
    RecordingWanted wanted = recording_of(*source_, scan_toml);
    wanted.scan.recipe = recipe_;
    wanted.scan.flow = flow_;
    session_.record(std::move(wanted));
    recording_ = scan_toml;
    is_recording_ = true;
}

RecorderFigures StagedSession::stop_recording() {
    const RecorderFigures figures = session_.stop_recording();
    const bool was_recording = is_recording_.exchange(false);
    if (was_recording && figures.blocks > 0 && capabilities().has_truth)
        source_->write_truth(recording_.parent_path() / "truth");
    return figures;
}

void StagedSession::change(const Scan& scan) {
    const ReconstructionPlan plan = scan.plan(source_->block_b_scans());
    session_.change(plan);
    plan_ = plan;
    recipe_ = scan.recipe;
    flow_ = scan.flow;
}

RingStatistics StagedSession::ring() const {
    return display_ == nullptr ? RingStatistics{} : display_->statistics();
}

std::vector<SessionEvent> StagedSession::take_events() {
    std::vector<SessionEvent> events = session_.take_events();
    if (player_ == nullptr) return events;
    for (const std::string& problem : player_->take_problems())
        events.push_back({session_.figures().seconds, true, problem});
    return events;
}

}  // namespace echolux
