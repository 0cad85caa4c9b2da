#include "app/viewer/live_source.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "app/live/session_run.h"
#include "app/open/show_opened.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/missing_voxels.h"
#include "compute/reconstructor.h"
#include "engine/analysis/figures.h"
#include "engine/offline/reconstruction.h"
#include "engine/scan/scan.h"

namespace echolux {

// ---- Reading recent volumes

std::optional<std::uint64_t> RecentReader::wanted() const {
    const std::scoped_lock lock(mutex_);
    if (coming_ || error_ || begun_ == series_.volumes.size()) return {};
    return series_.volumes[begun_].serial;
}

void RecentReader::bring(PendingVolume coming) {
    const std::scoped_lock lock(mutex_);
    coming_ = std::move(coming);
    ++begun_;
    changed_.notify_one();
}

void RecentReader::fail(const Error& error) {
    const std::scoped_lock lock(mutex_);
    if (!error_) error_ = error;
    changed_.notify_one();
}

// Waits for the drawing thread, which alone may start copies from the device. `progress` cancels the wait.
std::vector<std::byte> RecentReader::next(Progress& progress) {
    constexpr std::chrono::milliseconds progress_interval{50};
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, progress_interval, [this] { return coming_ || error_; })) {
        lock.unlock();
        progress.advance(0);
        lock.lock();
    }
    if (error_) throw Error(*error_);
    const PendingVolume coming = std::exchange(coming_, nullptr);
    lock.unlock();
    return coming()->voxels;
}

// ---- Recent volumes

RecentTimeline::~RecentTimeline() {
    for (const std::weak_ptr<RecentReader>& one : readings_) {
        if (const std::shared_ptr<RecentReader> reading = one.lock())
            reading->fail(Error(ErrorCode::device, "was closed before all of its volumes arrived", "kept volumes"));
    }
}

void RecentTimeline::update(const Bring& bring) {
    now_ = display_.kept();
    std::erase_if(readings_, [](const auto& one) { return one.expired(); });
    for (const std::weak_ptr<RecentReader>& one : readings_) {
        if (const std::shared_ptr<RecentReader> reading = one.lock()) serve(*reading, bring);
    }
}

void RecentTimeline::serve(RecentReader& reading, const Bring& bring) {
    const std::optional<std::uint64_t> serial = reading.wanted();
    if (!serial) return;
    try {
        if (std::optional<VolumeDownload> coming = display_.begin_reading_recent(reading.hold(), *serial))
            reading.bring(bring(std::move(*coming)));
    } catch (const Error& error) {
        reading.fail(error);
        if (error.code() == ErrorCode::device) throw;
    }
}

double RecentTimeline::seconds() const {
    if (volumes().empty()) return 0;
    return volumes().back().stamp.time_s - volumes().front().stamp.time_s;
}

std::int64_t RecentTimeline::step() const {
    const std::int64_t last = std::ssize(volumes()) - 1;
    if (!now_.shown) return last;
    const auto found = std::ranges::find(volumes(), *now_.shown, &RecentVolume::serial);
    return found == volumes().end() ? last : found - volumes().begin();
}

double RecentTimeline::ago_s() const {
    if (volumes().empty()) return 0;
    return volumes().back().stamp.time_s - volumes()[index(step())].stamp.time_s;
}

void RecentTimeline::pause() {
    go_to(step());
}

void RecentTimeline::resume() {
    display_.resume();
    now_ = display_.kept();
}

// The list may have changed since the last update. If the requested volume is gone, the next one is shown.
void RecentTimeline::go_to(std::int64_t step) {
    if (volumes().empty()) return;
    const std::int64_t last = std::ssize(volumes()) - 1;
    const std::uint64_t meant = volumes()[index(std::clamp<std::int64_t>(step, 0, last))].serial;
    const std::shared_ptr<const RecentHold> hold = display_.hold_recent();
    now_ = display_.kept();
    const auto next = std::ranges::lower_bound(volumes(), meant, {}, &RecentVolume::serial);
    if (next != volumes().end()) display_.pause_at(next->serial);
    now_ = display_.kept();
}

void RecentTimeline::step_by(std::int64_t steps) {
    go_to(step() + steps);
}

std::shared_ptr<RecentReader> RecentTimeline::read(double seconds, std::map<std::string, std::string> provenance,
                                                   std::uint64_t plan) {
    std::shared_ptr<const RecentHold> hold = display_.hold_recent();
    if (!hold) return nullptr;
    now_ = display_.kept();
    if (now_.volumes.empty()) return nullptr;
    const auto reading = std::make_shared<RecentReader>(
        RecentSeries{last_of(now_.volumes, seconds), now_.grid, std::move(provenance), plan}, std::move(hold));
    readings_.push_back(reading);
    return reading;
}

// ---- View source

namespace {

ReconstructionSpec complete_plan_of(const LiveController& session) {
    ReconstructionSpec plan = session.plan();
    session.complete(plan);
    return plan;
}

}  // namespace

LiveSource::LiveSource(std::shared_ptr<LiveController> session, const BackendChoice& backend, Renderer& renderer,
                       std::int64_t keep_bytes)
    : ViewSource(renderer), session_(std::move(session)),
      path_(complete_plan_of(*session_), backend, renderer,
            {.keep_bytes = keep_bytes,
             .complete = [part = session_.get()](ReconstructionSpec& plan) { part->complete(plan); }}),
      backend_description_(path_.feeder.describe()) {
    session_->attach(path_.feeder);
}

LiveSource::~LiveSource() {
    for (const std::weak_ptr<Reading>& one : readings_) {
        const std::shared_ptr<Reading> reading = one.lock();
        if (!reading) continue;
        const std::scoped_lock lock(reading->mutex);  // a waiting reader holds the lock, but not for much longer
        reading->voxels = nullptr;
    }
    path_.display.abandon_reading();  // otherwise the feeder could wait for pictures of a lost device
    session_->detach();
}

std::optional<VolumeGrid> LiveSource::own_grid() const {
    if (!shown_) return {};
    return shown_->grid;
}

std::optional<VolumeGrid> LiveSource::own_flow_grid() const {
    if (!shown_) return {};
    return shown_->flow_grid;
}

bool LiveSource::has_planes() const {
    return shown_ && !poses_of(session_->scan().geometry, shown_->grid.b_scans).empty();
}

void LiveSource::update_own(double now_s) {
    session_->update(now_s);
    kept_.update([this](VolumeDownload coming) { return guarded(std::move(coming)); });
    if (std::optional<DisplayState> shown = path_.display.shown()) {
        if (!shown_ || shown_->generation != shown->generation) backend_description_ = path_.feeder.describe();
        const auto seen = [](const DisplayState& of) { return std::tuple(of.generation, of.serial, of.filled_to); };
        if (!shown_ || seen(*shown_) != seen(*shown)) ++own_news_;
        shown_ = std::move(shown);
    }
    if (unseen_ && path_.display.is_finished(*unseen_)) session_->note_seen(std::exchange(unseen_, {})->stamp.volume);
}

std::optional<PanePicture> LiveSource::follow(const View& view, double now_s, std::size_t pane) {
    if (shows_derived()) return renderer_.follow(view, now_s, pane);
    if (const std::optional<PaneContent> followed = path_.display.follow(view, now_s, pane)) {
        pictures_[pane] = followed->picture;
        note(*followed, now_s);
    }
    const auto last = pictures_.find(pane);
    if (last == pictures_.end()) return {};
    return last->second;
}

// Latency is measured for one volume at a time, until its picture has finished.
void LiveSource::note(const PaneContent& followed, double now_s) {
    session_->note_drawn(followed.stamp.volume, now_s);
    if (followed.stamp.volume == noted_ || unseen_) return;
    noted_ = followed.stamp.volume;
    unseen_ = LivePicture{followed.picture.drawing, followed.stamp};
}

std::optional<Probe> LiveSource::probe(const View& view, std::int64_t x, std::int64_t y) {
    return shows_derived() ? ViewSource::probe(view, x, y) : path_.display.probe(view, x, y);
}

std::optional<PlaneHistogram> LiveSource::plane_histogram(const View& view) {
    return shows_derived() ? ViewSource::plane_histogram(view) : path_.display.plane_histogram(view);
}

std::optional<Histogram> LiveSource::histogram() {
    return shows_derived() ? ViewSource::histogram() : path_.display.histogram();
}

std::optional<FlowScale> LiveSource::flow_scale(const View& view) {
    if (!flow_grid()) return {};
    if (const std::optional<FlowScale> scale = path_.display.flow_scale(view)) flow_scale_ = scale;
    return flow_scale_;
}

Image LiveSource::still(const View& view) {
    if (shows_derived()) return ViewSource::still(view);
    std::optional<Image> image = path_.display.still(view);
    if (!image) throw Error(ErrorCode::bad_setting, "there is no volume yet", name(), "wait for the first");
    return std::move(*image);
}

PendingVolume LiveSource::begin_reading_own() {
    std::optional<VolumeDownload> coming = path_.display.begin_reading_volume();
    if (!coming) return {};
    return guarded(std::move(*coming));
}

std::map<std::string, std::string> LiveSource::provenance_now(const ReconstructionSpec& plan) const {
    Scan scan = session_->scan();
    take_recipe(plan, scan);
    return provenance_of(scan, path_.feeder.describe());
}

std::shared_ptr<RecentReader> LiveSource::begin_reading_recent(double seconds) {
    const PlanInUse plan = path_.display.plan_in_use();
    return kept_.read(seconds, provenance_now(plan.spec), plan.number);
}

// Stores the code for missing B-scans, for which textures contain the lowest value.
static void empty_missing_slices(Volume& volume) {
    const std::vector<bool> is_missing = named_missing_slices(volume);
    const VoxelTarget target = packed_target(volume.voxels.data(), volume.grid);
    for (std::size_t slice = 0; slice < is_missing.size(); ++slice) {
        if (is_missing[slice])
            store_missing(volume.grid, target, static_cast<std::int64_t>(slice), 1, missing_code(volume.grid.type));
    }
}

PendingVolume LiveSource::guarded(VolumeDownload coming) {
    Volume facts{coming.volume.grid, {}, provenance_now(coming.volume.plan)};
    const std::int64_t step = session_->step_of(coming.volume.stamp.volume);
    facts.provenance["volume"] = std::to_string(step);
    const Scan& scan = session_->scan();
    const std::int64_t slices = facts.grid.b_scans / scan.geometry.b_scans;
    const std::string missing = missing_slices(scan.missing, {step, 0, scan.geometry.b_scans}, slices);
    if (!missing.empty()) facts.provenance["missing_b_scans"] = missing;
    const auto reading = std::make_shared<Reading>();
    reading->voxels = std::move(coming.voxels);
    std::erase_if(readings_, [](const auto& one) { return one.expired(); });
    readings_.push_back(reading);
    return [reading, facts = std::move(facts), from = name()] {
        const std::scoped_lock lock(reading->mutex);
        const auto voxels = std::exchange(reading->voxels, nullptr);
        if (!voxels) throw Error(ErrorCode::device, "was closed before its volume arrived", from, "open it again");
        auto volume = std::make_shared<Volume>(Volume{facts.grid, voxels(), facts.provenance});
        empty_missing_slices(*volume);
        return std::shared_ptr<const Volume>(std::move(volume));
    };
}

std::optional<Loading> LiveSource::loading() const {
    const Timeline* timeline = session_->timeline();
    if (timeline == nullptr || timeline->shown() == timeline->step()) return {};
    if (session_->has_failed(timeline->step())) return {};
    return Loading{timeline->step()};
}

std::optional<VolumeStamp> LiveSource::stamp() const {
    if (!shown_) return {};
    return VolumeStamp{session_->step_of(shown_->stamp.volume), shown_->stamp.time_s};
}

std::vector<Interval> LiveSource::ready_steps() const {
    if (!shown_ || session_->timeline() == nullptr) return {};
    const std::int64_t step = session_->step_of(shown_->stamp.volume);
    return {{step, step + 1}};
}

}  // namespace echolux
