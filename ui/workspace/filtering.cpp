#include "ui/workspace/filtering.h"

#include <algorithm>
#include <utility>

#include "app/open/open_volume.h"
#include "app/settings/session_text.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/scan/settings.h"
#include "ui/workspace/exporting.h"
#include "ui/workspace/workspace.h"

namespace echolux {
namespace {

// Do not start a job while the volume is changing or loading.
bool is_restless(ViewSource& view_source) {
    return is_changing(view_source) || view_source.loading().has_value();
}

LiveController* live_source(Workspace& work) {
    ViewSource* view_source = work.viewer().view_source();
    LiveController* live = view_source == nullptr ? nullptr : view_source->live();
    return live == nullptr || live->is_recorded() ? nullptr : live;
}

Stabilising wanted_stabilising(Workspace& work) {
    return {work.settings().tissue().registration, work.settings().tissue().registration_display.reference};
}

// True if the job is running or will start soon.
bool is_coming(Workspace& work, const DerivedResult& one) {
    return one.rests() ||
           std::ranges::any_of(work.jobs().states(), [&](const JobState& job) { return job.id == one.job(); });
}

}  // namespace

// Returns true once per request, after it has been stable for 0.25 s.
bool DerivedResult::needs_job(const DerivedInputs& inputs, double now_s) {
    constexpr double rest_s = 0.25;
    if (inputs != wanted_) {
        wanted_ = inputs;
        wanted_s_ = now_s;
    }
    const bool is_new = inputs != asked_for_;
    rests_ = is_new && now_s - wanted_s_ < rest_s;
    if (!is_new || rests_) return false;
    asked_for_ = inputs;
    return true;
}

void DerivedResult::abandon() {
    asked_for_ = made_for_;
    wanted_ = {};
    rests_ = false;
}

void DerivedResult::forget() {
    *this = {};
}

std::string Filtering::obstacle(Workspace& work) {
    ViewSource* view_source = work.viewer().view_source();
    if (view_source == nullptr || !view_source->grid()) return "Waiting for the first volume";
    if (view_source->has_planes()) return "These B-scans are separate planes, not a volume";
    const LiveController* live = view_source->live();
    if (live != nullptr && !live->is_recorded() && live->is_running()) return "Stop the source to process a volume";
    return "";
}

void Filtering::forget() {
    ++opened_;
    measures_ = is_running_ = false;
    reported_.clear();
    filter_.forget();
    stabilise_.forget();
    filtered_.reset();
    stabilised_.reset();
    filtered_of_ = {};
    stabilised_of_.reset();
}

void Filtering::update(Workspace& work) {
    if (is_live(work)) return report_live(work);
    if (work.viewer().view_source() == nullptr || !work.viewer().view_source()->grid()) return;
    update_stabilised(work);
    update_filtered(work);
    update_viewer(work);
    is_running_ = is_at_work(work);
}

// ---- live sources

bool Filtering::is_live(Workspace& work) {
    return live_source(work) != nullptr;
}

// Sends the requested processing to the live session when it changes.
void Filtering::report_live(Workspace& work) {
    const LiveTissue wanted = live_tissue(work.settings().tissue());
    std::vector<std::uint64_t> now{work.settings().revision("filter"), work.settings().revision("registration")};
    if (now == reported_) return;
    const bool is_first = std::exchange(reported_, std::move(now)).empty();
    if (is_first && wanted.is_empty_recipe()) return;
    try {
        live_source(work)->set_tissue(wanted);
        work.notices().settle("filter");
    } catch (const Error& error) {
        work.notices().report_problem("filter", error);
    }
}

std::shared_ptr<const PostprocessingResult> Filtering::done_live(Workspace& work) {
    const LiveController* live = live_source(work);
    const TissueLog* log = live == nullptr ? nullptr : live->tissue_log();
    return log == nullptr || live_tissue(work.settings().tissue()).is_empty_recipe() ? nullptr : log->last();
}

TissueStats Filtering::live_stats(Workspace& work) {
    const LiveController* live = live_source(work);
    const TissueLog* log = live == nullptr ? nullptr : live->tissue_log();
    return log == nullptr ? TissueStats{} : log->stats();
}

void Filtering::again() {
    for (DerivedResult* one : {&filter_, &stabilise_}) {
        if (one->is_behind()) one->abandon();
    }
}

// ---- stabilising

void Filtering::measure(Workspace& work) {
    if (!can_measure(work)) return;
    measures_ = true;
    if (stabilise_.is_behind()) stabilise_.abandon();
}

bool Filtering::can_measure(Workspace& work) const {
    return obstacle(work).empty() && !is_live(work) && !work.settings().tissue().registration_display.shown;
}

// A change of the volume discards the result. Changed settings keep the previous result until the new one is ready.
void Filtering::update_stabilised(Workspace& work) {
    ViewSource& shown = *work.viewer().view_source();
    if (stabilised_ && stabilised_of_ != shown.own_revision()) {
        work.jobs().cancel(stabilise_.job());
        stabilised_.reset();
        stabilise_.forget();
        measures_ = false;
    }
    stabilise_.stop_resting();
    if (!work.settings().tissue().registration_display.shown && !measures_) {
        work.jobs().cancel(stabilise_.job());
        if (stabilise_.is_behind()) stabilise_.abandon();
        return;
    }
    if (!obstacle(work).empty() || is_restless(shown)) return;
    const DerivedInputs inputs{.volume = shown.own_revision(), .stabilising = wanted_stabilising(work)};
    if (stabilise_.needs_job(inputs, work.now_s())) stabilise(work);
}

void Filtering::stabilise(Workspace& work) {
    const PendingVolume coming = work.viewer().view_source()->begin_reading_own();
    if (!coming) return stabilise_.forget();
    work.jobs().cancel(stabilise_.job());
    const std::int64_t step = work.settings().tissue().registration_display.reference;
    std::optional<VolumeSource> reference;
    // The reference is another time point of the same file.
    if (step >= 0) {
        reference = work.exporting().time_point(step);
        if (!reference) {
            stabilise_.has_failed();
            measures_ = false;
            work.notices().report_problem("registration",
                                          Error(ErrorCode::bad_setting, "a live source keeps no earlier volume",
                                                "registration.reference", "record first, or choose -1"));
            return;
        }
    }
    stabilise_.begins(work.jobs().start(
        "stabilising",
        [this, opened = opened_, asked = stabilise_.asked_for(), coming, reference,
         settings = work.settings().tissue().registration, how = work.settings().tissue().registration_display,
         notices = &work.notices()](Progress& progress) -> Jobs::LastStep {
            progress.begin("fetch the volume", 0, "");
            const std::shared_ptr<const Volume> volume = coming();
            progress.end();
            std::optional<OpenedVolume> other;
            if (reference) other = open_volume(*reference, progress);
            StabilisedVolume made = echolux::stabilised(*volume, other ? &other->volume : nullptr, settings, progress);
            return [this, notices, opened, asked, settings, how, made = std::move(made)] {
                // Ignore the result if the document or the request has changed.
                if (opened != opened_ || asked != stabilise_.asked_for()) return;
                stabilise_.set_ready();
                made_with_.registration = settings;
                made_with_.registration_display = how;
                stabilised_ = made;
                stabilised_of_ = asked.volume;
                notices->settle("registration");
            };
        },
        [this, &work, opened = opened_, asked = stabilise_.asked_for()](const Error& error) {
            if (opened != opened_ || asked != stabilise_.asked_for()) return;
            stabilise_.has_failed();
            measures_ = false;
            work.notices().report_problem("registration", error);
        }));
}

const std::shared_ptr<const Volume>* Filtering::shown_stabilised(Workspace& work) const {
    const ViewSource* shown = work.viewer().view_source();
    const bool is_there = work.settings().tissue().registration_display.shown && stabilised_ && shown != nullptr &&
                          stabilised_of_ == shown->own_revision();
    return is_there ? &stabilised_->volume : nullptr;
}

// ---- filters

PendingVolume Filtering::begin_reading(Workspace& work) const {
    if (const auto* volume = shown_stabilised(work)) return [volume = *volume] { return volume; };
    ViewSource* shown = work.viewer().view_source();
    return shown == nullptr ? PendingVolume() : shown->begin_reading_own();
}

DerivedInputs Filtering::base(Workspace& work) const {
    const ViewSource* shown = work.viewer().view_source();
    if (shown == nullptr) return {};
    DerivedInputs inputs{.volume = shown->own_revision()};
    if (shown_stabilised(work) != nullptr) inputs.stabilising = stabilise_.made_for().stabilising;
    return inputs;
}

Moment Filtering::moment(Workspace& work) {
    ViewSource* shown = work.viewer().view_source();
    const std::optional<VolumeStamp> stamp = shown == nullptr ? std::nullopt : shown->stamp();
    if (!stamp) return {};
    if (shown->live() != nullptr && !shown->live()->is_recorded()) return {.inputs = base(work)};
    // The number alone is the same when a recording is displayed again.
    Moment moment{.inputs = {.volume = VolumeRevision{.volume = stamp->volume}}, .scan = scan_values(work)};
    if (shown_stabilised(work) != nullptr) moment.inputs.stabilising = wanted_stabilising(work);
    return moment;
}

// Collected again only after a change.
std::shared_ptr<const Values> Filtering::scan_values(Workspace& work) {
    std::vector<std::uint64_t> now{work.settings().revision("calibration")};
    for (const std::string_view section : recipe_sections) now.push_back(work.settings().revision(section));
    if (scan_values_ && now == scan_revisions_) return scan_values_;
    Values values;
    for (const BoundField& field : work.settings().fields()) {
        if (is_of_scan(field.section)) values.emplace(field.key(), field.get());
    }
    scan_revisions_ = std::move(now);
    scan_values_ = std::make_shared<const Values>(std::move(values));
    return scan_values_;
}

bool Filtering::is_being_replaced(Workspace& work) {
    ViewSource* shown = work.viewer().view_source();
    return shown != nullptr && shown->live() != nullptr && shown->is_at_work();
}

// Same structure as update_stabilised().
void Filtering::update_filtered(Workspace& work) {
    if (filtered_ && filtered_of_ != base(work)) {
        work.jobs().cancel(filter_.job());
        filtered_.reset();
        filter_.forget();
    }
    filter_.stop_resting();
    if (!work.settings().tissue().filter_display.shown) {
        work.jobs().cancel(filter_.job());
        if (filter_.is_behind()) filter_.abandon();
        return;
    }
    if (!obstacle(work).empty() || is_restless(*work.viewer().view_source())) return;
    // With stabilisation on, the filter waits for the stabilised volume.
    const bool waits_for_base =
        work.settings().tissue().registration_display.shown && shown_stabilised(work) == nullptr;
    if (waits_for_base && is_coming(work, stabilise_)) return;
    DerivedInputs inputs = base(work);
    inputs.filter = work.settings().tissue().filter;
    if (filter_.needs_job(inputs, work.now_s())) filter(work);
}

void Filtering::filter(Workspace& work) {
    const PendingVolume coming = begin_reading(work);
    if (!coming) return filter_.forget();
    work.jobs().cancel(filter_.job());
    filter_.begins(work.jobs().start(
        "filtering",
        [this, opened = opened_, asked = filter_.asked_for(), of = base(work), coming,
         settings = work.settings().tissue().filter, notices = &work.notices()](Progress& progress) -> Jobs::LastStep {
            progress.begin("fetch the volume", 0, "");
            const std::shared_ptr<const Volume> volume = coming();
            progress.end();
            std::shared_ptr<const Volume> made = filtered_copy(*volume, settings, progress);
            return [this, notices, opened, asked, of, settings, made] {
                if (opened != opened_ || asked != filter_.asked_for()) return;
                filter_.set_ready();
                made_with_.filter = settings;
                filtered_ = made;
                filtered_of_ = of;
                notices->settle("filter");
            };
        },
        [this, &work, opened = opened_, asked = filter_.asked_for()](const Error& error) {
            if (opened != opened_ || asked != filter_.asked_for()) return;
            filter_.has_failed();
            work.notices().report_problem("filter", error);
        }));
}

// ---- the stage

// Displays the filtered, stabilised or raw volume. After a change of settings, the previous volume stays until the new
// one is ready.
void Filtering::update_viewer(Workspace& work) {
    ViewSource& shown = *work.viewer().view_source();
    std::shared_ptr<const Volume> wanted;
    if (const auto* volume = shown_stabilised(work)) wanted = *volume;
    if (work.settings().tissue().filter_display.shown && filtered_ && filtered_of_ == base(work)) wanted = filtered_;
    if (wanted == shown.derived()) return;
    if (wanted)
        shown.show_derived(wanted);
    else
        shown.show_own();
}

bool Filtering::is_filtered(Workspace& work) const {
    if (is_live(work)) {
        const auto done = done_live(work);
        return work.settings().tissue().filter_display.shown && done != nullptr && done->is_filtered;
    }
    const ViewSource* shown = work.viewer().view_source();
    return shown != nullptr && shown->shows_derived() && filtered_ && shown->derived() == filtered_;
}

bool Filtering::is_stabilised(Workspace& work) const {
    if (is_live(work)) {
        const auto done = done_live(work);
        return work.settings().tissue().registration_display.shown && done != nullptr && done->is_stabilised;
    }
    const ViewSource* shown = work.viewer().view_source();
    return shown != nullptr && shown->shows_derived() && shown_stabilised(work) != nullptr;
}

// Live volumes carry the settings with which they were processed.
TissueSettings Filtering::as_shown(Workspace& work) const {
    TissueSettings tissue = work.settings().tissue();
    tissue.filter_display.shown = is_filtered(work);
    tissue.registration_display.shown = is_stabilised(work);
    const std::shared_ptr<const PostprocessingResult> live = done_live(work);
    if (tissue.filter_display.shown) tissue.filter = live ? live->wanted.filter : made_with_.filter;
    if (!tissue.registration_display.shown) return tissue;
    tissue.registration = live ? live->wanted.registration : made_with_.registration;
    if (live)
        tissue.registration_display.across_volumes = live->wanted.across_volumes;
    else
        tissue.registration_display.reference = made_with_.registration_display.reference;
    return tissue;
}

bool Filtering::is_at_work(Workspace& work) const {
    return is_coming(work, filter_) || is_coming(work, stabilise_) || work.viewer().view_source()->is_derived_coming();
}

}  // namespace echolux
