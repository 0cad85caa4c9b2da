#include "app/viewer/live_controller.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "app/live/live_pipeline.h"
#include "app/live/session_run.h"
#include "compute/calibrate/calibrate.h"
#include "compute/error.h"
#include "compute/plan/choices.h"
#include "engine/offline/reconstruction.h"
#include "engine/scan/recording.h"

namespace echolux {
namespace {

std::optional<Timeline> timeline_of(const ScanPlayer* player) {
    if (player == nullptr || player->scan().geometry.volumes < 2) return {};
    return Timeline(player->scan().geometry.volumes, player->volume_s());
}

}  // namespace

LiveController::LiveController(std::unique_ptr<Source> source, const ReconstructionSpec& plan)
    : source_(std::move(source)), player_(dynamic_cast<ScanPlayer*>(source_.get())),
      first_floor_db_(plan.recipe.noise_floor_db), asked_{{plan, source_->scan()}}, timeline_(timeline_of(player_)),
      session_(*source_) {}

LiveController::~LiveController() {
    try {
        stop();
        stop_recording();
    } catch (const std::exception&) {  // only the simulated ground truth is lost; the recording is on disk
    }
}

// For a scan the noise floor is measured like in `reconstruct`; live, from the newest block.
void LiveController::complete(ReconstructionSpec& plan) const {
    if (!needs_noise_floor(plan.recipe, plan.flow)) return;
    plan.recipe.noise_floor_db = first_floor_db_;
    if (player_ != nullptr) {
        Scan scan = player_->scan();
        scan.calibration = plan.calibration;
        take_recipe(plan, scan);
        scan.recipe.noise_floor_db = 0;
        plan.recipe.noise_floor_db = noise_floor_of(scan);
    } else if (const std::optional<Block> block = session_.newest_block()) {
        plan.recipe.noise_floor_db = 0;
        plan.recipe.noise_floor_db = noise_floor_for_recipe(plan, *block);
    }
}

void LiveController::attach(LiveFeeder& display) {
    display_ = &display;
    asked_.erase(asked_.begin(), asked_.end() - 1);  // settings that the display was created with
    asked_.back().number = 0;
    if (!tissue_.is_empty_recipe()) display.set_tissue(tissue_);
    session_.attach(display);
    try {
        begin_to_show();
    } catch (...) {
        detach();
        throw;
    }
}

// Shows on a new display what the previous one showed: a scan sends its volume again; of a live source, the last volume
// is kept.
void LiveController::begin_to_show() {
    const bool has_run = std::exchange(has_run_, true);
    if (!has_run && player_ == nullptr) return;
    if (!has_run)
        session_.start();
    else if (player_ != nullptr)
        player_->show(asked_for_);
    else
        change_to(asked_.back());
}

void LiveController::detach() {
    session_.detach();
    display_ = nullptr;
}

void LiveController::update(double now_s) {
    if (player_ == nullptr) return;
    std::int64_t wanted = asked_for_;
    if (timeline_) {
        timeline_->advance(now_s);
        wanted = timeline_->step();
    }
    const bool keeps_volumes = player_->pool_blocks() == 0;
    const std::int64_t changes = keeps_volumes ? 0 : session_.stats().changes;
    if (wanted == asked_for_ && changes == changes_) return;
    asked_for_ = wanted;
    changes_ = changes;
    player_->show(wanted);
}

void LiveController::note_drawn(std::int64_t volume, double now_s) {
    if (timeline_) timeline_->note_shown(step_of(volume), now_s);
}

std::int64_t LiveController::step_of(std::int64_t volume) const {
    return player_ == nullptr ? volume : player_->shown_by(volume).value_or(asked_for_);
}

bool LiveController::is_at_work() const {
    if (player_ == nullptr) return is_running();
    if (display_ == nullptr) return false;
    const PlanStatus status = display_->plan_status();
    return status.wanted > std::max(status.in_use, status.refused);
}

bool LiveController::is_running() const {
    const LiveStats stats = session_.stats();
    return stats.running && !stats.ended;
}

SourceState LiveController::state() const {
    const LiveStats stats = session_.stats();
    if (!stats.running) return SourceState::stopped;
    if (stats.ended) return SourceState::ended;
    if (stats.has_failed) return SourceState::failed;
    if (stats.is_late) return SourceState::late;
    return capabilities().replays ? SourceState::replay : SourceState::live;
}

void LiveController::start() {
    const std::scoped_lock lock(starting_);
    session_.start();
}

void LiveController::stop() {
    const std::scoped_lock lock(starting_);
    session_.stop();
}

RecordingRequest LiveController::recording_of_now(const std::filesystem::path& scan_toml,
                                                  const std::string& look) const {
    if (is_recorded()) {
        throw Error(ErrorCode::bad_setting, "is already on disk as a recording", scan().path.string(),
                    "copy its files");
    }
    RecordingRequest wanted = recording_of(*source_, scan_toml);
    take_recipe(asked_.back().scan, wanted.scan);
    wanted.look = look;
    return wanted;
}

void LiveController::record(RecordingRequest wanted) {
    const std::filesystem::path scan_toml = wanted.scan_toml;
    session_.record(std::move(wanted));
    recording_ = scan_toml;
    is_recording_ = true;
}

RecorderStats LiveController::stop_recording() {
    const RecorderStats stats = session_.stop_recording();
    const bool was_recording = is_recording_.exchange(false);
    if (was_recording && stats.blocks > 0 && capabilities().has_truth)
        source_->write_truth(truth_of_recording(recording_));
    return stats;
}

void LiveController::change(const Scan& scan) {
    const ReconstructionSpec plan = scan.spec(source_->block_b_scans());
    PlanRequest asked{plan, scan};
    change_to(asked);
    asked_.push_back(std::move(asked));
}

void LiveController::change_to(PlanRequest& asked) {
    session_.change(asked.plan);
    if (display_ != nullptr) asked.number = display_->plan_status().wanted;
}

// Only the newest request counts. If it is invalid, the settings in use stay.
std::optional<Scan> LiveController::take_refusal() {
    if (display_ == nullptr) return {};
    const PlanStatus status = display_->plan_status();
    while (asked_.size() > 1 && asked_[1].number <= status.in_use) asked_.pop_front();
    if (asked_.size() == 1 || status.refused < asked_.back().number) return {};
    asked_.erase(asked_.begin() + 1, asked_.end());
    return asked_.front().scan;
}

void LiveController::set_tissue(const LiveTissue& tissue) {
    check_tissue(tissue);
    tissue_ = tissue;
    if (display_ != nullptr) display_->set_tissue(tissue);
}

const TissueLog* LiveController::tissue_log() const {
    return display_ == nullptr ? nullptr : &display_->tissue_log();
}

RingStatistics LiveController::ring() const {
    return display_ == nullptr ? RingStatistics{} : display_->statistics();
}

std::vector<DeviceWork> LiveController::devices() const {
    return display_ == nullptr ? std::vector<DeviceWork>{} : display_->device_work();
}

std::vector<LiveEvent> LiveController::take_events() {
    std::vector<LiveEvent> events = session_.take_events();
    if (player_ == nullptr) return events;
    for (const std::string& problem : player_->take_problems())
        events.push_back({session_.stats().seconds, true, problem});
    return events;
}

}  // namespace echolux
