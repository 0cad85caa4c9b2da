#include "ui/window/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/stage/exhibit.h"
#include "app/stage/live_session.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "ui/window/theme.h"
#include "ui/window/window_parts.h"
#include "ui/workspace/layering.h"

namespace echolux {
namespace {

constexpr double shortest_s = 1.0 / 60;                                     // minimum interval of frames
constexpr double asked_every_s = 0.002, slow_asked_every_s = 0.008;         // interval of checks whether rays are done
constexpr double figures_every_s = 0.2;                                     // while something is running
constexpr double rests_after_s = 0.6;                                       // afterwards no frame rate is shown
constexpr double patience_s = 0.25;                                         // wait of run() without events
constexpr double confirms_within_s = 10;                                    // time to repeat the request to close
constexpr double device_tried_every_s = 0.5, device_returns_within_s = 30;  // attempts to restore a lost device

std::vector<std::uint64_t> values_of(const std::vector<ScreenPane>& shown) {
    std::vector<std::uint64_t> values;
    for (const ScreenPane& pane : shown) values.push_back(pane.drawing.value);
    return values;
}

bool plays(Exhibit& exhibit) {
    return exhibit.timeline() != nullptr && exhibit.timeline()->plays();
}

}  // namespace

// Actions are registered before the first frame, because menus and keys need them.
MainWindow::Parts::Parts(NativeWindow& native_window, Workspace& workspace)
    : native(native_window), work(workspace), host(native_window) {
    make_screen();
    add_actions();
}

void MainWindow::Parts::make_screen() {
    screen = std::make_unique<Screen>(work.stage().renderer(), std::max<std::int64_t>(native.width(), 1),
                                      std::max<std::int64_t>(native.height(), 1));
    if (host.style().text == nullptr) return;  // the glyphs are uploaded with the first layout
    const ImguiHost::Glyphs glyphs = host.glyphs();
    screen->set_glyphs(glyphs.width, glyphs.height, glyphs.coverage);
}

bool MainWindow::Parts::turn(double max_wait_s) {
    ++stats.turns;
    if (turns_of_input) ++*turns_of_input;
    const std::vector<HeardEvent> events = events_until_due(max_wait_s);
    for (const HeardEvent& event : events) note(event);
    if (!events.empty() && !loss) {
        layout_at = 0;
        if (!turns_of_input) input_s = events.front().time_s;
        if (!turns_of_input) turns_of_input = 1;
    }
    if (loss && !revive()) return !closes;
    try {
        if (screen == nullptr) make_screen();
        work.update(seconds());
        watch();
        draw();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::device) throw;
        lose_device(error);
    }
    stats.is_at_rest = layout_at == never && pictures_at == never && !host.has_waiting();
    return !closes;
}

// Waits for events, or until work is due. Limits the frame rate to 60 per second.
std::vector<HeardEvent> MainWindow::Parts::events_until_due(double max_wait_s) {
    const double begun = seconds();
    const double may_show = shown_at + shortest_s;
    double due = host.has_waiting() && !loss ? may_show : std::max(std::min(layout_at, pictures_at), may_show);
    due = std::min(due, begun + max_wait_s);
    std::vector<HeardEvent> events = native.take_events(std::max(0.0, due - begun));
    while (!events.empty() && seconds() < may_show) {
        const std::vector<HeardEvent> more = native.take_events(may_show - seconds());
        events.insert(events.end(), more.begin(), more.end());
    }
    return events;
}

void MainWindow::Parts::note(const HeardEvent& heard) {
    const WindowEvent& event = heard.what;
    if (std::holds_alternative<CloseRequested>(event)) ask_to_close();
    if (const auto* resized = std::get_if<Resized>(&event)) {
        if (resized->width > 0 && resized->height > 0 && !is_full_screen && native.keeps_size()) {
            work.change("window.width", resized->width, Edit::under_way);
            work.change("window.height", resized->height, Edit::under_way);
        }
    }
    if (const auto* dropped = std::get_if<FilesDropped>(&event)) {
        for (const std::filesystem::path& path : dropped->paths) work.open(path);
    }
    if (!loss) host.feed(heard);
}

// Jobs, sessions and commands also change things. Joins everything that the interface displays into one text and
// requests a layout when it changes.
void MainWindow::Parts::watch() {
    Exhibit* exhibit = work.stage().exhibit();
    std::string now = fmt::format("{} {}", static_cast<const void*>(exhibit), work.jobs().states().size());
    if (!work.notices().all().empty()) {
        const Notice& newest = work.notices().all().back();
        now += fmt::format(" {} {} {}", newest.number, newest.times, newest.stands);
    }
    if (exhibit != nullptr) {
        if (Timeline* timeline = exhibit->timeline()) now += fmt::format(" {} {}", timeline->step(), timeline->shown());
        if (std::exchange(news_seen, exhibit->news()) != exhibit->news()) {
            news_at = seconds();
            pictures_at = 0;
        }
        if (LiveSession* live = exhibit->live()) now += fmt::format(" {} {}", live->is_running(), live->is_recording());
    }
    now += fmt::format(" {} {}", work.raw_proposal() != nullptr, work.layering().changes());
    for (const BoundField& field : work.fields()) {
        if (field.section == "view" || field.section == "window" || is_tissue_section(field.section))
            now += " " + spelled(field.get());
    }
    if (now == watched) return;
    watched = now;
    layout_at = 0;
}

void MainWindow::Parts::draw() {
    if (native.width() == 0 || native.height() == 0) {  // minimized
        layout_at = pictures_at = seconds() + patience_s;
        return;
    }
    const double now = seconds();
    const bool lays_out = host.has_waiting() || layout_at <= now;
    if (!lays_out && pictures_at > now) return;
    if (screen->width() != native.width() || screen->height() != native.height()) {
        screen->resize(native.width(), native.height());
    }
    if (lays_out) {
        layout_at = never;
        lay_out();
    }
    // If rays are slow, display the response to input before starting the next ones.
    const bool answers_first = lays_out && panes.are_rays_slow();
    if (answers_first) show(panes.shown(context()));
    native.look();  // before a possibly long operation
    panes.follow(context());
    const std::vector<ScreenPane> shown = panes.shown(context());
    if ((lays_out && !answers_first) || values_of(shown) != shown_values) show(shown);
    plan_next();
}

// Displays the panes and the interface. If the screen was not ready, tries again soon.
void MainWindow::Parts::show(const std::vector<ScreenPane>& shown) {
    shown_values = values_of(shown);
    const bool done = screen->show(shown, *mesh, {ground.x, ground.y, ground.z});
    shown_at = seconds();
    if (!done) {
        layout_at = shown_at + shortest_s;
        return;
    }
    ++stats.shown;
    stats.interface_gpu_s = screen->interface_seconds();
    if (turns_of_input) {
        stats.turns_since_input = *turns_of_input;
        stats.answered_s = shown_at - input_s;
        turns_of_input.reset();
    }
    shown_lately.push_back(shown_at);
    while (shown_lately.front() < shown_at - 1) shown_lately.pop_front();
}

// Schedules the next layout and the next check of the pictures.
void MainWindow::Parts::plan_next() {
    const double now = seconds();
    Exhibit* exhibit = work.stage().exhibit();
    const bool has_news = now < news_at + rests_after_s;
    const bool moves = exhibit != nullptr && (exhibit->is_at_work() || plays(*exhibit) || state.plays_keys || has_news);
    const bool pictures_change = moves || (exhibit != nullptr && !panes.is_final()) || work.is_busy();
    // Pending rays are checked often, so that the next ones start without delay.
    const double asked_s = panes.are_rays_slow() ? slow_asked_every_s : asked_every_s;
    pictures_at = !pictures_change ? never : now + (panes.waits_for_rays() ? asked_s : shortest_s);
    if (moves || !work.jobs().is_idle() || panes.wants_turn()) {
        const bool aligns =
            moves && work.window().layout == PaneLayout::alignment;  // the user aligns the instrument with these curves
        const double every_s = state.plays_keys ? 0.02 : aligns ? 0.05 : panes.wants_turn() ? 0.1 : figures_every_s;
        layout_at = std::min(layout_at, laid_out_at + every_s);
    } else if (pictures_change) {
        layout_at = std::min(layout_at, laid_out_at + 1);
    } else if (state.pace.pictures_per_s > 0) {
        layout_at = std::min(layout_at, now + rests_after_s);
    }
}

void MainWindow::Parts::lose_device(const Error& error) {
    screen.reset();
    panes.forget_pictures();
    shown_values.clear();
    // releases keys and buttons, whose events are not processed during the loss
    host.feed({FocusChanged{false}, seconds()});
    loss = DeviceLoss{error, seconds(), 0};
    pictures_at = never;
    layout_at = 0;
}

// A reset or restart of the driver takes seconds. Sessions and recordings continue during that time.
bool MainWindow::Parts::revive() {
    if (seconds() < loss->tries_at) return false;
    if (work.device_lost(loss->error)) {
        loss.reset();
        return true;
    }
    const bool may_come = !work.stage().has_renderer() && seconds() < loss->since + device_returns_within_s;
    if (!may_come) {
        throw Error(ErrorCode::device, "the graphics device was lost and could not be recovered", loss->error.problem(),
                    "start Echolux again: the last state is restored; a recording that was running is complete");
    }
    layout_at = loss->tries_at = seconds() + device_tried_every_s;
    return false;
}

// Closing must be requested twice while a recording runs.
void MainWindow::Parts::ask_to_close() {
    const LiveSession* live = work.stage().exhibit() == nullptr ? nullptr : work.stage().exhibit()->live();
    if (live != nullptr && live->is_recording()) {
        if (seconds() > asked_to_close_at + confirms_within_s) {
            asked_to_close_at = seconds();
            work.notices().note("source", "a recording is running; close again to end it and quit");
            return;
        }
        work.stop_recording();
    }
    closes = true;
}

MainWindow::MainWindow(NativeWindow& native, Workspace& work) : parts_(std::make_unique<Parts>(native, work)) {}
MainWindow::~MainWindow() = default;

void MainWindow::run() {
    while (turn(patience_s)) {
    }
}

bool MainWindow::turn(double max_wait_s) {
    return parts_->turn(max_wait_s);
}

void MainWindow::wake() {
    parts_->native.wake();
}

Image MainWindow::picture() {
    if (parts_->screen == nullptr) return {};
    try {
        return parts_->screen->read();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::device) throw;
        parts_->lose_device(error);
        return {};
    }
}

WindowStats MainWindow::stats() const {
    return parts_->stats;
}

std::optional<Region> MainWindow::place_of(PaneKind pane) const {
    return parts_->panes.place_of(pane);
}

const std::map<std::string, std::array<float, 4>>& MainWindow::places() const {
    return parts_->state.controls.places;
}

std::optional<std::array<float, 4>> MainWindow::place_of(const std::string& key) const {
    const auto found = parts_->state.controls.places.find(key);
    if (found == parts_->state.controls.places.end()) return std::nullopt;
    return found->second;
}

}  // namespace echolux
