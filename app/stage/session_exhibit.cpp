#include "app/stage/session_exhibit.h"

#include <tuple>
#include <utility>

#include "app/open/scan_poses.h"
#include "compute/error.h"
#include "compute/missing_voxels.h"
#include "compute/reconstructor.h"
#include "engine/analysis/figures.h"
#include "engine/scan/scan.h"

namespace echolux {
namespace {

ReconstructionSpec complete_plan_of(const StagedSession& session) {
    ReconstructionSpec plan = session.plan();
    session.complete(plan);
    return plan;
}

}  // namespace

SessionExhibit::SessionExhibit(std::shared_ptr<StagedSession> session, const BackendChoice& backend, Renderer& renderer,
                               std::int64_t keep_bytes)
    : session_(std::move(session)),
      path_(complete_plan_of(*session_), backend, renderer,
            {.keep_bytes = keep_bytes,
             .complete = [part = session_.get()](ReconstructionSpec& plan) { part->complete(plan); }}),
      way_(path_.describe()) {
    session_->attach(path_);
}

SessionExhibit::~SessionExhibit() {
    for (const std::weak_ptr<Reading>& one : readings_) {
        const std::shared_ptr<Reading> reading = one.lock();
        if (!reading) continue;
        const std::scoped_lock lock(reading->mutex);  // a waiting reader holds the lock, but not for much longer
        reading->voxels = nullptr;
    }
    path_.give_up_reading();  // otherwise the feeder could wait for pictures of a lost device
    session_->detach();
}

std::optional<VolumeGrid> SessionExhibit::grid() const {
    if (!shown_) return {};
    return shown_->grid;
}

std::optional<VolumeGrid> SessionExhibit::flow_grid() const {
    if (!shown_) return {};
    return shown_->flow_grid;
}

bool SessionExhibit::has_planes() const {
    return shown_ && !poses_of(session_->scan().geometry, shown_->grid.b_scans).empty();
}

void SessionExhibit::update(double now_s) {
    session_->update(now_s);
    kept_.update([this](ComingVolume coming) { return guarded(std::move(coming)); });
    if (std::optional<ShownVolume> shown = path_.shown()) {
        if (!shown_ || shown_->generation != shown->generation) way_ = path_.describe();
        const auto seen = [](const ShownVolume& of) { return std::tuple(of.generation, of.serial, of.filled_to); };
        if (!shown_ || seen(*shown_) != seen(*shown)) ++news_;
        shown_ = std::move(shown);
    }
    if (unseen_ && path_.is_finished(*unseen_)) session_->note_seen(std::exchange(unseen_, {})->stamp.volume);
}

std::optional<FollowedPicture> SessionExhibit::follow(const View& view, double now_s, std::size_t pane) {
    if (const std::optional<FollowedVolume> followed = path_.follow(view, now_s, pane)) {
        pictures_[pane] = followed->picture;
        note(*followed, now_s);
    }
    const auto last = pictures_.find(pane);
    if (last == pictures_.end()) return {};
    return last->second;
}

void SessionExhibit::note(const FollowedVolume& followed, double now_s) {
    session_->note_drawn(followed.stamp.volume, now_s);
    if (followed.stamp.volume == noted_ || unseen_) return;
    noted_ = followed.stamp.volume;
    unseen_ = VolumePicture{followed.picture.drawing, followed.stamp};
}

std::optional<Probe> SessionExhibit::probe(const View& view, std::int64_t x, std::int64_t y) {
    return path_.probe(view, x, y);
}

std::optional<PlaneHistogram> SessionExhibit::plane_histogram(const View& view) {
    return path_.plane_histogram(view);
}

std::optional<Histogram> SessionExhibit::histogram() {
    return path_.histogram();
}

std::optional<FlowScale> SessionExhibit::flow_scale(const View& view) {
    if (!flow_grid()) return {};
    if (const std::optional<FlowScale> scale = path_.flow_scale(view)) flow_scale_ = scale;
    return flow_scale_;
}

Image SessionExhibit::still(const View& view) {
    std::optional<Image> image = path_.still(view);
    if (!image) throw Error(ErrorCode::bad_setting, "there is no volume yet", name(), "wait for the first");
    return std::move(*image);
}

VolumeToCome SessionExhibit::begin_reading() {
    std::optional<ComingVolume> coming = path_.begin_reading_volume();
    if (!coming) return {};
    return guarded(std::move(*coming));
}

std::map<std::string, std::string> SessionExhibit::provenance_now(const ReconstructionSpec& plan) const {
    Scan scan = session_->scan();
    take_recipe(plan, scan);
    return provenance_of(scan, path_.describe());
}

std::shared_ptr<KeptReading> SessionExhibit::begin_reading_kept(double seconds) {
    const PlanInUse plan = path_.plan_in_use();
    return kept_.read(seconds, provenance_now(plan.spec), plan.number);
}

namespace {

// Stores the code for missing B-scans, for which textures contain the lowest value.
void empty_missing_slices(Volume& volume) {
    const std::vector<bool> is_missing = named_missing_slices(volume);
    const Place place = packed_place(volume.voxels.data(), volume.grid);
    for (std::size_t slice = 0; slice < is_missing.size(); ++slice) {
        if (is_missing[slice])
            store_missing(volume.grid, place, static_cast<std::int64_t>(slice), 1, missing_code(volume.grid.type));
    }
}

}  // namespace

VolumeToCome SessionExhibit::guarded(ComingVolume coming) {
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

std::optional<Loading> SessionExhibit::loading() const {
    const Timeline* timeline = session_->timeline();
    if (timeline == nullptr || timeline->shown() == timeline->step()) return {};
    if (session_->has_failed(timeline->step())) return {};
    return Loading{timeline->step()};
}

std::optional<VolumeStamp> SessionExhibit::stamp() const {
    if (!shown_) return {};
    return VolumeStamp{session_->step_of(shown_->stamp.volume), shown_->stamp.time_s};
}

std::vector<Interval> SessionExhibit::ready_steps() const {
    if (!shown_ || session_->timeline() == nullptr) return {};
    const std::int64_t step = session_->step_of(shown_->stamp.volume);
    return {{step, step + 1}};
}

}  // namespace echolux
