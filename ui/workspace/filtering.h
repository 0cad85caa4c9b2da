// Volumes displayed instead of the open volume: filtered, stabilised, or both, as set in [filter] and [registration].
// Jobs compute them whenever a setting or the volume changes. Files and recordings are not affected.
//
// Volumes of a live source are processed before they are displayed (app/live/live_postprocessor.h). The session
// receives the settings and reports the applied steps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/jobs/render_job.h"
#include "app/viewer/live_source.h"
#include "app/viewer/view_source.h"
#include "engine/registration/registration.h"
#include "engine/scan/settings.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {

class Workspace;

struct Stabilising {
    RegistrationSettings settings;
    std::int64_t reference = -1;

    bool operator==(const Stabilising&) const = default;
};

// Inputs of a derived volume. They are values instead of revisions, so that displaying a result again, or returning to
// its settings, starts no job.
struct DerivedInputs {
    std::optional<VolumeRevision> volume{};  // as reconstructed or read
    std::optional<Stabilising> stabilising{};
    std::optional<SpeckleFilter> filter{};

    bool operator==(const DerivedInputs&) const = default;
};

// A time point and its processing, for data that users have edited, such as surfaces. Unlike DerivedInputs, it is the
// same when a time point of a file or recording is displayed again, and when its settings return.
struct Moment {
    DerivedInputs inputs{};
    std::shared_ptr<const Values> scan{};  // settings of the reconstruction; nullptr for live sources

    bool operator==(const Moment& other) const {
        return inputs == other.inputs && (scan == other.scan || (scan && other.scan && *scan == *other.scan));
    }
};

// A result that a job derives from the volume, and the inputs from which it was derived. A newer request cancels the
// job.
class DerivedResult {
  public:
    // Returns true if a job must start now. It starts after a short delay, so that dragging a control does not start a
    // job at every step.
    bool needs_job(const DerivedInputs& inputs, double now_s);

    void begins(std::uint64_t job) { job_ = job; }
    void set_ready() { made_for_ = asked_for_; }
    void has_failed() { job_ = 0; }  // not repeated until an input changes
    void abandon();                  // drops the current request; the previous result stays
    void stop_resting() { rests_ = false; }
    void forget();

    std::uint64_t job() const { return job_; }
    const DerivedInputs& asked_for() const { return asked_for_; }
    const DerivedInputs& made_for() const { return made_for_; }
    bool rests() const { return rests_; }  // a job will start soon
    bool is_behind() const { return made_for_ != asked_for_; }

  private:
    DerivedInputs asked_for_, made_for_, wanted_;
    double wanted_s_ = 0;
    bool rests_ = false;
    std::uint64_t job_ = 0;
};

class Filtering {
  public:
    // Starts, cancels and collects jobs. Call it once per frame.
    void update(Workspace& work);
    // Discards everything, because another document will be open.
    void forget();

    // Returns why the volume cannot be processed now, with a remedy, or an empty text.
    static std::string obstacle(Workspace& work);

    // Starts to read the input of filters and layer search: the volume as reconstructed or read, or the stabilised one
    // if it is displayed. Returns an empty function if there is no volume yet. base() identifies this volume.
    PendingVolume begin_reading(Workspace& work) const;
    DerivedInputs base(Workspace& work) const;
    Moment moment(Workspace& work);
    // true while the displayed volume does not yet match settings and time line
    static bool is_being_replaced(Workspace& work);

    // Returns the processing of the newest volume of a live source, or nullptr for other documents and before the first
    // result.
    static std::shared_ptr<const PostprocessingResult> done_live(Workspace& work);
    static TissueStats live_stats(Workspace& work);
    static bool is_live(Workspace& work);

    bool is_filtered(Workspace& work) const;    // displayed now
    bool is_stabilised(Workspace& work) const;  // displayed now, possibly also filtered
    // Returns the settings of the displayed volume. They differ from the requested ones after a failure or cancellation
    // and while a job runs.
    TissueSettings as_shown(Workspace& work) const;
    bool is_running() const { return is_running_; }  // the requested volume is not ready yet
    // True if a job was cancelled or failed; again() repeats it.
    bool has_ended_early() const { return !is_running_ && (filter_.is_behind() || stabilise_.is_behind()); }
    void again();
    std::uint64_t filter_job() const { return filter_.job(); }
    std::uint64_t stabilise_job() const { return stabilise_.job(); }

    // Shifts of the B-scans of the open volume, also available while the raw volume is displayed. nullptr: none yet.
    const StabilisedVolume* stabilised() const { return stabilised_ ? &*stabilised_ : nullptr; }
    // Computes the shifts without displaying the stabilised volume.
    void measure(Workspace& work);
    bool can_measure(Workspace& work) const;

  private:
    void report_live(Workspace& work);
    void update_stabilised(Workspace& work);
    void update_filtered(Workspace& work);
    void stabilise(Workspace& work);
    void filter(Workspace& work);
    void update_viewer(Workspace& work);
    bool is_at_work(Workspace& work) const;
    std::shared_ptr<const Values> scan_values(Workspace& work);
    const std::shared_ptr<const Volume>* shown_stabilised(Workspace& work) const;

    std::uint64_t opened_ = 0;  // number of forget() calls; identifies the document to which results of jobs belong
    // Revisions of the settings last sent to a live session, and of those in scan_values_.
    std::vector<std::uint64_t> reported_, scan_revisions_;
    std::shared_ptr<const Values> scan_values_;
    bool measures_ = false, is_running_ = false;
    DerivedResult filter_, stabilise_;
    std::shared_ptr<const Volume> filtered_;
    TissueSettings made_with_;  // settings of both results; live volumes carry their own
    DerivedInputs filtered_of_;
    std::optional<StabilisedVolume> stabilised_;
    std::optional<VolumeRevision> stabilised_of_;
};

// ---- Reports whether the displayed volume is changing, in which case pictures wait and no jobs are started for it.

// Returns true if new voxels arrive by themselves: during playback or while a session acquires.
inline bool is_changing(ViewSource& view_source) {
    const bool plays = view_source.timeline() != nullptr && view_source.timeline()->plays();
    const LiveController* live = view_source.live();
    const bool stands_still = view_source.recent_timeline() != nullptr && view_source.recent_timeline()->is_paused();
    return plays || (live != nullptr && !live->is_recorded() && live->is_running() && !stands_still);
}

}  // namespace echolux
