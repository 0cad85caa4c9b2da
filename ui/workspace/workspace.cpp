#include "ui/workspace/workspace.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "app/stage/pane_view.h"
#include "compute/error.h"
#include "ui/workspace/standard_actions.h"
#include "ui/workspace/workspace_parts.h"

namespace echolux {

Workspace::Parts::Parts(const WorkspaceOptions& wanted)
    : options(wanted), state(wanted.state_folder), last_session(state.last_session()),
      stage(wanted.device, wanted.backend) {
    restore_window();
    book.apply(asked_view_values(), [](const Change&) {});
    if (state.last_ended_in_order()) return;
    notices.note("files", "Echolux did not exit properly: the last state can be restored (session.restore_last)");
}

// Stores the final state of the program.
Workspace::Parts::~Parts() {
    if (state.is_there()) attempt("files", [&] { state.end_session(has_session() ? remembered_text() : ""); });
}

bool Workspace::Parts::attempt(std::string_view place, const std::function<void()>& work) {
    try {
        work();
        return true;
    } catch (const Error& error) {
        notices.trouble(place, error);
        if (jobs.operation()) jobs.operation()->fail(error);
    } catch (const std::exception& error) {  // from the standard library: out of memory, missing folder
        notices.trouble(place, error.what());
        if (jobs.operation()) jobs.operation()->fail(Error(ErrorCode::bad_setting, error.what(), std::string(place)));
    }
    return false;
}

Jobs::Failed Workspace::Parts::to(std::string_view place) {
    return [this, at = std::string(place)](const Error& error) { notices.trouble(at, error); };
}

LiveSession* Workspace::Parts::live() const {
    return stage.exhibit() == nullptr ? nullptr : stage.exhibit()->live();
}

void Workspace::Parts::hear_session() {
    if (live() == nullptr) return;
    for (const SessionEvent& event : live()->take_events()) {
        if (event.is_trouble) {
            notices.trouble("source", event.line, event.topic);
        } else {
            notices.note("source", event.line);
        }
    }
    if (const std::optional<Scan> in_use = live()->take_refusal()) settings_were_refused(*in_use);
}

// Reverts settings that the session rejected. The session reports the reason.
void Workspace::Parts::settings_were_refused(const Scan& in_use) {
    const Change change = book.take_back(in_use);
    if (change.after.empty()) return;
    history.forget(change.after);
    std::string keys;
    for (const auto& [key, value] : change.after) keys += (keys.empty() ? "" : ", ") + key;
    notices.trouble(section_of(change.after.begin()->first), keys + ": cannot be used, and is as it was before");
}

void Workspace::Parts::set_cross(const std::array<double, 3>& wanted) {
    const std::optional<VolumeGrid> grid = stage.exhibit() == nullptr ? std::nullopt : stage.exhibit()->grid();
    cross_um = wanted;  // used until a volume arrives
    is_cross_inside = grid.has_value();
    if (!grid) return;
    cross_um = kept_inside(wanted, *grid);
    if (LiveSession* session = live()) session->look_at(voxel_index(cross_um[2], *grid, 2));
}

Workspace::Workspace(const WorkspaceOptions& options) : parts_(std::make_unique<Parts>(options)) {
    add_standard_actions(*this);
    add_calibration_actions(*this);
    add_tissue_actions(*this);
}

Workspace::~Workspace() = default;

Stage& Workspace::stage() {
    return parts_->stage;
}

Jobs& Workspace::jobs() {
    return parts_->jobs;
}

Notices& Workspace::notices() {
    return parts_->notices;
}

Actions& Workspace::actions() {
    return parts_->actions;
}

Calibrating& Workspace::calibrating() {
    return parts_->calibrating;
}

Filtering& Workspace::filtering() {
    return parts_->filtering;
}

Layering& Workspace::layering() {
    return parts_->layering;
}

void Workspace::perform(const std::shared_ptr<Operation>& operation, const std::function<void()>& work) {
    parts_->jobs.belong(operation, work);
}

void Workspace::limit_to(std::shared_ptr<const AllowedFolders> folders, const std::string& source,
                         const std::vector<std::filesystem::path>& files) {
    parts_->options.folders = std::move(folders);
    parts_->allowed_source = source;
    std::error_code problem;
    for (const std::filesystem::path& file : files) {
        parts_->allowed_files.push_back(std::filesystem::weakly_canonical(file, problem));
    }
}

const AllowedFolders* Workspace::folders() const {
    return parts_->folders();
}

double Workspace::now_s() const {
    return parts_->now_s;
}

bool Workspace::is_busy() const {
    return !parts_->jobs.is_idle() || !parts_->state.is_idle() || !parts_->to_keep.empty() ||
           (parts_->proposal && parts_->proposal->is_stale) || parts_->filtering.is_under_way();
}

void Workspace::update(double now_s) {
    Parts& parts = *parts_;
    parts.now_s = std::max(parts.now_s, now_s);
    parts.jobs.collect();
    {
        const std::scoped_lock lock(parts.told_by_jobs_mutex);
        for (const std::string& line : std::exchange(parts.told_by_jobs, {})) parts.notices.note("export", line);
    }
    // A lost device must be handled by the window, whose screens use it. All other errors become notices.
    const auto watch = [&](std::string_view place, const auto& work) {
        try {
            work();
        } catch (const Error& error) {
            if (error.code() == ErrorCode::device) throw;
            parts.notices.trouble(place, error);
        } catch (const std::exception& error) {  // from the standard library
            parts.notices.trouble(place, error.what());
        }
    };
    if (Exhibit* exhibit = parts.stage.exhibit()) {
        // The order matters: volumes first, then data that is derived from them.
        watch("files", [&] { exhibit->update(parts.now_s); });
        for (const std::string& line : exhibit->take_problems()) parts.notices.trouble("files", line);
        if (!parts.is_cross_inside) parts.set_cross(parts.cross_um);
        watch("filter", [&] { parts.filtering.update(*this); });
        watch("layers", [&] { parts.layering.update(*this); });
    }
    parts.find_missing_heights();
    parts.drop_other_channels();
    parts.hear_session();
    watch("calibration", [&] { parts.calibrating.update(*this); });
    parts.preview_proposal();
    if (!parts.filtering.is_under_way()) watch("export", [&] { parts.draw_picture_to_keep(); });
    parts.autosave();
    for (const Error& problem : parts.state.take_problems()) parts.notices.trouble("files", problem);
}

bool Workspace::device_lost(const Error& error) {
    constexpr double lately_s = 60;
    constexpr std::size_t max_losses = 2;
    Parts& parts = *parts_;
    if (parts.stage.has_renderer()) parts.notices.trouble("display", error);  // report it only once
    std::deque<double>& losses = parts.losses_s;
    while (!losses.empty() && parts.now_s - losses.front() > lately_s) losses.pop_front();
    if (losses.size() < max_losses) {
        if (!parts.attempt("display", [&] { parts.revive(); })) return false;
        losses.push_back(parts.now_s);
        parts.notices.settle("display");
        parts.notices.note("display", "the graphics device was lost and has been recovered");
        return true;
    }
    parts.notices.trouble("display",
                          Error(ErrorCode::device, "the graphics device is lost repeatedly", "display",
                                "save the session (Ctrl+S) and start again, with another device (--device) or a newer "
                                "driver; recordings go on meanwhile"));
    return false;
}

// Heights were stored on the lost device and are found again.
void Workspace::Parts::revive() {
    drop_pictures_to_keep();
    stage.revive();
    Values heights{{"view.top_from", book.view().top_from}, {"view.bottom_from", book.view().bottom_from}};
    book.view().top_from.clear();
    book.view().bottom_from.clear();
    book.view_edited();
    take(heights, "view", std::nullopt);
}

const std::array<double, 3>& Workspace::cross_um() const {
    return parts_->cross_um;
}

void Workspace::set_cross_um(const std::array<double, 3>& cross) {
    parts_->set_cross(cross);
}

}  // namespace echolux
