// What is shown in place of the volume that is open: the filtered one, the stabilised one, or both, as [filter] and
// [registration] say. Each is made by a job, whenever a setting or the volume is another one, and put on the stage in
// place of the raw volume; files and recordings stay as they are. Volumes of a live source are worked on as they come,
// before they are shown (app/live/tissue_stage.h): its session is told what is wanted, and says what was done.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/jobs/tissue_shown.h"
#include "app/stage/exhibit.h"

namespace echolux {

class Workspace;

// Something that is made of the volume by a job, and what it was made of. One at a time: a newer wish cancels the job.
class MadeOfVolume {
  public:
    // `mark`: of all that it depends on. Whether a job has to begin now: after a short rest, so that a control that is
    // dragged does not begin one at every step.
    bool wants_job(const std::string& mark, double now_s);

    void begins(std::uint64_t job) { job_ = job; }
    void has_come() { made_for_ = asked_for_; }
    void has_failed() { job_ = 0; }  // not tried again before something is another
    void give_up();                  // what is asked for: what was made before stays
    void stop_resting() { rests_ = false; }
    void forget();

    std::uint64_t job() const { return job_; }
    const std::string& asked_for() const { return asked_for_; }
    const std::string& made_for() const { return made_for_; }
    bool rests() const { return rests_; }  // a job will begin soon
    bool is_behind() const { return made_for_ != asked_for_; }

  private:
    std::string asked_for_, made_for_, wanted_;
    double wanted_s_ = 0;
    bool rests_ = false;
    std::uint64_t job_ = 0;
};

class Filtering {
  public:
    // Once a picture.
    void update(Workspace& work);
    // Something else will be open.
    void forget();

    // Why nothing can be made of what is open now, with what helps; empty: it can.
    static std::string obstacle(Workspace& work);

    // The volume as it was reconstructed or read, or stabilised where that is shown: what filters and the search for
    // layers begin with. Empty: there is no volume yet. Its mark changes with it.
    VolumeToCome begin_reading(Workspace& work) const;
    std::string mark(Workspace& work) const;
    // What somebody set by hand belongs to: a time point as it is reconstructed and stabilised now. Of files and
    // recordings the same again when it has gone and come again, where the mark is another one.
    std::string moment(Workspace& work) const;
    static bool is_being_replaced(Workspace& work);  // what is shown is not yet what settings and time line ask for

    // What became of the newest volume of a live source; nullptr: it is none, or nothing was wanted of it yet.
    static std::shared_ptr<const TissueDone> done_live(Workspace& work);
    static TissueStats live_stats(Workspace& work);
    static bool is_live(Workspace& work);

    bool is_filtered(Workspace& work) const;    // seen now
    bool is_stabilised(Workspace& work) const;  // seen now, perhaps filtered as well
    // Settings of what is seen now: where a job failed, was cancelled or still runs, not those that are asked for.
    TissueSettings as_shown(Workspace& work) const;
    bool is_under_way() const { return is_under_way_; }  // what settings ask for is not there yet
    // A job was cancelled, or failed; and it is tried again.
    bool has_ended_early() const { return !is_under_way_ && (filter_.is_behind() || stabilise_.is_behind()); }
    void again();
    std::uint64_t filter_job() const { return filter_.job(); }
    std::uint64_t stabilise_job() const { return stabilise_.job(); }

    // Of the B-scans of what is open, also while the raw volume is shown; nullptr: none yet.
    const StabilisedVolume* stabilised() const { return stabilised_ ? &*stabilised_ : nullptr; }
    // Shifts alone, without showing the stabilised volume.
    void measure(Workspace& work);
    bool can_measure(Workspace& work) const;

  private:
    void tell(Workspace& work);
    void update_stabilised(Workspace& work);
    void update_filtered(Workspace& work);
    void stabilise(Workspace& work);
    void filter(Workspace& work);
    void put_on_stage(Workspace& work);
    bool is_at_work(Workspace& work) const;
    std::string stabilised_mark(Workspace& work) const;
    const std::shared_ptr<const Volume>* shown_stabilised(Workspace& work) const;

    std::uint64_t opened_ = 0;  // how often forget() was called: what jobs make belongs to one of them
    std::string told_;          // to a live session
    bool measures_ = false, is_under_way_ = false;
    MadeOfVolume filter_, stabilise_;
    std::shared_ptr<const Volume> filtered_;
    TissueSettings made_with_;  // of both, their settings; live volumes say theirs themselves
    std::string filtered_of_;   // the mark of the volume that it was made of
    std::optional<StabilisedVolume> stabilised_;
    std::string stabilised_of_;
};

}  // namespace echolux
