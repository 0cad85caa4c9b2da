#include "ui/window/window.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/operations/operation.h"
#include "app/seconds_since.h"
#include "app/viewer/view_source.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "ui/panels/controls.h"
#include "ui/panels/panel.h"
#include "ui/window/bars.h"
#include "ui/window/file_dialog.h"
#include "ui/window/imgui_host.h"
#include "ui/window/layout.h"
#include "ui/window/overlay.h"
#include "ui/window/panel_columns.h"
#include "ui/window/panes.h"
#include "ui/window/start_page.h"
#include "ui/window/theme.h"
#include "ui/workspace/exporting.h"
#include "ui/workspace/layering.h"
#include "ui/workspace/losses.h"
#include "ui/workspace/operating.h"
#include "ui/workspace/raw_proposal.h"
#include "ui/workspace/recordings.h"

namespace echolux {

struct MainWindow::Parts {
    static constexpr double never = std::numeric_limits<double>::infinity();

    // State that the interface displays and that jobs, sessions and commands also change.
    struct Watched {
        const void* view_source = nullptr;
        std::size_t jobs = 0;
        std::uint64_t notice = 0;
        std::int64_t notice_times = 0;
        bool notice_stands = false;
        std::int64_t step = 0, shown_step = 0;
        SourceState source = SourceState::stopped;
        bool is_recording = false, has_proposal = false, has_question = false;
        std::int64_t losses = 0;
        std::uint64_t surfaces = 0, settings = 0;

        bool operator==(const Watched&) const = default;
    };

    // A lost device and the next attempt to restore it.
    struct DeviceLoss {
        Error error;
        double since, tries_at;
    };

    Parts(NativeWindow& native_window, Workspace& workspace);

    // ---- schedule
    bool turn(double max_wait_s);
    std::vector<TimestampedEvent> events_until_due(double max_wait_s);
    void note(const TimestampedEvent& event);
    void watch();  // detects changes without an event
    Watched watched_now();
    void draw();       // draws what is due
    void plan_next();  // schedules the next frame
    void show(const std::vector<ScreenPane>& shown);
    bool draw_screen(const std::vector<ScreenPane>& shown) {
        return screen->show(shown, *mesh, {host.style().ground.x, host.style().ground.y, host.style().ground.z});
    }
    void make_screen();
    void lose_device(const Error& error);
    bool revive();  // true if the device is restored
    void ask_to_close();
    void offer_last_session();  // after a crash
    double seconds() const { return native.now_s(); }
    PanelContext context() { return {work, host.style(), state}; }

    // ---- content
    void lay_out();  // lays out the interface as triangles, with all input up to now
    void lay_out_once();
    void draw_interface(const std::vector<WindowEvent>& taken);
    void draw_middle(const PanelContext& panel_context, const Region& centre);
    void draw_overlays(const PanelContext& panel_context);
    void take_keys(const std::vector<WindowEvent>& taken);
    void press(const std::string& chord);
    void escape();
    void leave_control(int step);
    void move_focus();
    bool click_focus();
    bool types() const;
    bool has_sheet() const;
    bool aligns() const;
    bool has_form() const;  // of an operation, beside the start page

    // ---- actions
    void add_actions();
    void add_file_actions();
    void add_measure_actions();
    void add_panel_actions();
    void add_operation_actions();
    void add_source_actions();
    void grant_file_request();

    NativeWindow& native;
    Workspace& work;
    ImguiHost host;
    PanelState state;
    PanelColumns columns;
    std::unique_ptr<Panel> alignment = make_alignment_view();
    Panes panes;
    StatusLine status_line;
    StartPage start_page;
    Tour tour;
    CommandPalette palette;
    KeyMap key_map;
    About about;
    FileDialog files;
    RawDialog raw;
    QuestionDialog question;
    std::unique_ptr<Screen> screen;  // destroyed before the renderer, see revive()

    bool closes = false;
    std::optional<DeviceLoss> loss;  // if set, nothing is drawn
    bool is_full_screen = false;
    int focus_step = 0;  // move of the keyboard focus at the end of the frame
    std::string title;

    // Times on the clock of seconds(). The interface is laid out again when it may have changed; pictures are updated
    // as long as they improve.
    double layout_at = 0, pictures_at = never;
    double shown_at = -1, laid_out_at = -1;
    double news_at = -never;  // last change of the document by itself
    std::uint64_t news_seen = 0;
    double help_at = 0;  // time at which a tooltip may appear
    const InterfaceMesh* mesh = nullptr;
    std::vector<std::uint64_t> shown_values;  // timeline values of the displayed drawings
    bool had_text = false;                    // a sheet or text box was open in the last frame
    Watched watched;
    std::optional<std::int64_t> turns_of_input;  // turns since an event that no frame displays yet
    double input_s = 0;                          // time of that event
    std::deque<double> shown_lately;
    WindowStats stats;
};

namespace {

constexpr double shortest_s = 1.0 / 60;                               // minimum interval of frames
constexpr double ray_check_s = 0.002, slow_ray_check_s = 0.008;       // interval of checks whether rays are done
constexpr double figure_interval_s = 0.2;                             // of numbers shown while something is running
constexpr double rests_after_s = 0.6;                                 // afterwards no frame rate is shown
constexpr double timeout_s = 0.25;                                    // wait of run() without events
constexpr double device_attempt_interval_s = 0.5, max_device_s = 30;  // attempts to restore a lost device

std::vector<std::uint64_t> values_of(const std::vector<ScreenPane>& shown) {
    std::vector<std::uint64_t> values;
    for (const ScreenPane& pane : shown) values.push_back(pane.drawing.value);
    return values;
}

bool plays(ViewSource& view_source) {
    return view_source.timeline() != nullptr && view_source.timeline()->plays();
}

}  // namespace

// Actions are registered before the first frame, because menus and keys need them.
MainWindow::Parts::Parts(NativeWindow& native_window, Workspace& workspace)
    : native(native_window), work(workspace), host(native_window) {
    make_screen();
    work.allow_questions();
    add_actions();
    offer_last_session();
}

void MainWindow::Parts::make_screen() {
    screen = std::make_unique<Screen>(work.viewer().renderer(), std::max<std::int64_t>(native.width(), 1),
                                      std::max<std::int64_t>(native.height(), 1));
    if (host.style().text == nullptr) return;  // the glyphs are uploaded with the first layout
    const ImguiHost::Glyphs glyphs = host.glyphs();
    screen->set_glyphs(glyphs.width, glyphs.height, glyphs.coverage);
}

bool MainWindow::Parts::turn(double max_wait_s) {
    ++stats.turns;
    if (turns_of_input) ++*turns_of_input;
    const std::vector<TimestampedEvent> events = events_until_due(max_wait_s);
    for (const TimestampedEvent& event : events) note(event);
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
std::vector<TimestampedEvent> MainWindow::Parts::events_until_due(double max_wait_s) {
    const double begun = seconds();
    const double may_show = shown_at + shortest_s;
    double due = host.has_waiting() && !loss ? may_show : std::max(std::min(layout_at, pictures_at), may_show);
    due = std::min(due, begun + max_wait_s);
    std::vector<TimestampedEvent> events = native.take_events(std::max(0.0, due - begun));
    while (!events.empty() && seconds() < may_show) {
        const std::vector<TimestampedEvent> more = native.take_events(may_show - seconds());
        events.insert(events.end(), more.begin(), more.end());
    }
    return events;
}

void MainWindow::Parts::note(const TimestampedEvent& event_at) {
    const WindowEvent& event = event_at.what;
    if (std::holds_alternative<CloseRequested>(event)) ask_to_close();
    if (std::holds_alternative<PointerButton>(event)) state.focus.control.clear();
    if (const auto* resized = std::get_if<Resized>(&event)) {
        if (resized->width > 0 && resized->height > 0 && !is_full_screen && native.keeps_size()) {
            work.change("window.width", resized->width, Edit::in_progress);
            work.change("window.height", resized->height, Edit::in_progress);
        }
    }
    if (const auto* dropped = std::get_if<FilesDropped>(&event)) {
        for (const std::filesystem::path& path : dropped->paths) work.open(path);
    }
    if (!loss) host.feed(event_at);
}

// Requests a layout when the interface displays something else, and pictures when the volume changes.
void MainWindow::Parts::watch() {
    const ViewSource* view_source = work.viewer().view_source();
    if (view_source != nullptr && std::exchange(news_seen, view_source->news()) != view_source->news()) {
        news_at = seconds();
        pictures_at = 0;
    }
    const Watched now = watched_now();
    if (now == watched) return;
    watched = now;
    layout_at = 0;
}

MainWindow::Parts::Watched MainWindow::Parts::watched_now() {
    ViewSource* view_source = work.viewer().view_source();
    Watched now{.view_source = view_source,
                .jobs = work.jobs().states().size(),
                .has_proposal = work.raw().proposal() != nullptr,
                .has_question = work.question().has_value(),
                .losses = work.losses().unseen(),
                .surfaces = work.layering().changes(),
                .settings = work.settings().revision()};
    if (!work.notices().all().empty()) {
        const Notice& newest = work.notices().all().back();
        now.notice = newest.number;
        now.notice_times = newest.times;
        now.notice_stands = newest.stands;
    }
    if (view_source == nullptr) return now;
    if (const Timeline* timeline = view_source->timeline()) {
        now.step = timeline->step();
        now.shown_step = timeline->shown();
    }
    if (const LiveController* live = view_source->live()) {
        now.source = live->state();
        now.is_recording = live->is_recording();
    }
    return now;
}

void MainWindow::Parts::draw() {
    if (native.width() == 0 || native.height() == 0) {  // minimized
        layout_at = pictures_at = seconds() + timeout_s;
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
    if (panes.is_laid_out_for_others()) lay_out();  // marks follow the picture that is displayed now
    const std::vector<ScreenPane> shown = panes.shown(context());
    if ((lays_out && !answers_first) || values_of(shown) != shown_values) show(shown);
    plan_next();
}

// Displays the panes and the interface. If the screen was not ready, tries again soon.
void MainWindow::Parts::show(const std::vector<ScreenPane>& shown) {
    shown_values = values_of(shown);
    const bool done = !native.draws_each_picture() || draw_screen(shown);
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
    ViewSource* view_source = work.viewer().view_source();
    const bool has_news = now < news_at + rests_after_s;
    const bool moves =
        view_source != nullptr && (view_source->is_at_work() || plays(*view_source) || state.plays_keys || has_news);
    const bool pictures_change = moves || (view_source != nullptr && !panes.is_final()) || work.is_busy();
    // Pending rays are checked often, so that the next ones start without delay.
    const double check_s = panes.are_rays_slow() ? slow_ray_check_s : ray_check_s;
    pictures_at = !pictures_change ? never : now + (panes.waits_for_rays() ? check_s : shortest_s);
    if (moves || !work.jobs().is_idle() || panes.needs_turn()) {
        // The user aligns the instrument with the curves of this layout.
        const bool aligns = moves && work.settings().window().layout == PaneLayout::alignment;
        const double interval_s = state.plays_keys     ? 0.02
                                  : aligns             ? 0.05
                                  : panes.needs_turn() ? 0.1
                                                       : figure_interval_s;
        layout_at = std::min(layout_at, laid_out_at + interval_s);
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
    const bool may_come = !work.viewer().has_renderer() && seconds() < loss->since + max_device_s;
    if (!may_come) {
        throw Error(ErrorCode::device, "the graphics device was lost and could not be recovered", loss->error.problem(),
                    "restart Echolux: the last state is restored; a running recording was completed");
    }
    layout_at = loss->tries_at = seconds() + device_attempt_interval_s;
    return false;
}

void MainWindow::Parts::offer_last_session() {
    if (!work.has_crashed()) return;
    work.ask({.title = "Restore the last state?",
              .text = "Echolux did not exit properly. It can open the same data again, with view and settings. A "
                      "recording that was running is on disk up to its last block.",
              .confirm = "Restore",
              .keep = "Do not restore",
              .confirmed = [this] { work.restore_last_session(); },
              .is_offer = true});
}

// Asks while a recording runs, and about surfaces that no file has. Everything else is restored at the next start.
void MainWindow::Parts::ask_to_close() {
    if (work.recordings().is_active()) {
        work.ask({"Stop recording and quit?", "A recording is running. Quitting stops it and completes its files.",
                  "Stop and quit", "Continue recording", [this] {
                      work.recordings().stop();
                      closes = true;
                  }});
    } else if (work.layering().has_unsaved()) {
        work.ask({"Quit without saving the layers?",
                  "Surfaces between layers will be lost: save them in the panel Layers.", "Quit", "Cancel",
                  [this] { closes = true; }});
    } else {
        closes = true;
    }
}

MainWindow::MainWindow(NativeWindow& native, Workspace& work) : parts_(std::make_unique<Parts>(native, work)) {}
MainWindow::~MainWindow() = default;

void MainWindow::run() {
    while (turn(timeout_s)) {
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
        if (!parts_->native.draws_each_picture() && parts_->mesh != nullptr)
            parts_->draw_screen(parts_->panes.shown(parts_->context()));
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

std::optional<double> MainWindow::shown_azimuth_deg(PaneKind pane) const {
    return parts_->panes.shown_azimuth_deg(pane);
}

std::optional<double> MainWindow::marked_azimuth_deg(PaneKind pane) const {
    return parts_->panes.marked_azimuth_deg(pane);
}

const std::map<std::string, std::array<float, 4>>& MainWindow::places() const {
    return parts_->state.controls.places;
}

std::optional<std::array<float, 4>> MainWindow::place_of(const std::string& key) const {
    const auto found = parts_->state.controls.places.find(key);
    if (found == parts_->state.controls.places.end()) return std::nullopt;
    return found->second;
}

// ---- One frame of the interface: panels, panes, overlays and key presses.

constexpr double help_after_s = 0.55;  // rest of the pointer
constexpr double blink_s = 0.4;        // text cursor

// Keys that repeat while held.
static bool repeats(const std::string& key) {
    return key == "Left" || key == "Right" || key == "Up" || key == "Down" || key == "PageUp" || key == "PageDown";
}

// Letters, digits and named keys act when pressed. Signs such as "?" act when typed, because the key that produces them
// depends on the keyboard layout.
static bool acts_when_typed(const std::string& key) {
    return key.size() == 1 && std::isalnum(static_cast<unsigned char>(key[0])) == 0;
}

static bool is_modifier(const std::string& key) {
    return key == "Ctrl" || key == "Shift" || key == "Alt" || key == "Super";
}

// Lays out the interface until all events are consumed, and displays the last frame. A click takes two frames (down and
// up), and neither waits for rays.
void MainWindow::Parts::lay_out() {
    do {
        lay_out_once();
    } while (host.has_waiting());
    if (const std::string wanted = window_title(work); wanted != title) native.set_title(title = wanted);
    native.set_pointer(host.pointer());
    state.pace.interface_cpu_s = stats.interface_cpu_s;
    state.pace.interface_gpu_s = stats.interface_gpu_s;
    state.pace.pictures_per_s = shown_at > laid_out_at - 0.5 ? static_cast<double>(shown_lately.size()) : 0;
    if (const auto picture = panes.volume_picture()) {
        state.pace.pitch = picture->pitch;
        state.pace.passes = picture->passes;
        state.pace.is_final = picture->is_final;
    }
}

void MainWindow::Parts::lay_out_once() {
    const auto begun = std::chrono::steady_clock::now();
    const double now = seconds();
    const WindowSettings& settings = work.settings().window();
    host.set_theme(settings.theme);
    if (host.set_scale(settings.scale > 0 ? settings.scale : native.scale())) {
        const ImguiHost::Glyphs glyphs = host.glyphs();
        screen->set_glyphs(glyphs.width, glyphs.height, glyphs.coverage);
    }
    state.controls.places.clear();
    state.plays_keys = false;
    if (!std::exchange(state.is_picked_there, false)) state.picked = 0;
    const std::vector<WindowEvent> taken = host.begin(native.width(), native.height(), now);
    laid_out_at = now;
    try {
        draw_interface(taken);
    } catch (...) {
        host.abandon();
        state.rest = {};
        throw;
    }
    mesh = &host.end();
    const bool opens_text = has_sheet() || (state.active.is_typed && !state.active.continues);
    const bool is_new = !std::exchange(had_text, opens_text) || state.active.is_new;
    if (opens_text && is_new) host.expect_text();
    // A click changes the next frame.
    if (!taken.empty()) layout_at = 0;
    if (taken.empty() && types()) layout_at = std::min(layout_at, now + blink_s);
    if (!taken.empty()) help_at = now + help_after_s;
    if (now < help_at) layout_at = std::min(layout_at, help_at);
    stats.interface_cpu_s = seconds_since(begun);
    grant_file_request();
}

void MainWindow::Parts::draw_interface(const std::vector<WindowEvent>& taken) {
    take_keys(taken);
    state.focus.order.clear();
    state.focus.names.clear();
    if (focus_step != 0 && state.focus.control.empty()) state.focus.control = state.focus.typed;
    state.focus.typed.clear();
    state.focus.is_visible = false;
    const PanelContext panel_context = context();
    const WindowSettings& settings = work.settings().window();
    const bool is_open = work.viewer().view_source() != nullptr;
    const WindowPlan plan = plan_window(settings, {.width = native.width(),
                                                   .height = native.height(),
                                                   .scale = static_cast<double>(host.style().scale),
                                                   .is_open = is_open,
                                                   .bottom = is_open ? columns.bottom_height(panel_context) : 0,
                                                   .aligns = aligns(),
                                                   .has_form = has_form()});
    state.has_sheet = has_sheet() || key_map.is_open() || about.is_open();
    draw_top_bar(panel_context, plan.top);
    if (is_open && work.viewer().view_source() != nullptr) {  // a menu may have closed the document
        columns.draw_side(panel_context, PanelSide::left, plan.left);
        columns.draw_side(panel_context, PanelSide::right, plan.right);
        columns.draw_bottom(panel_context, plan.bottom);
    } else if (has_form()) {
        columns.draw_side(panel_context, PanelSide::right, plan.right);
    }
    draw_middle(panel_context, plan.centre);
    status_line.draw(panel_context, plan.status);
    draw_overlays(panel_context);
    move_focus();
    if (work.viewer().view_source() != nullptr && columns.bottom_height(panel_context) != plan.bottom.height)
        layout_at = 0;
}

void MainWindow::Parts::draw_middle(const PanelContext& panel_context, const Region& centre) {
    ViewSource* view_source = work.viewer().view_source();
    if (view_source == nullptr) {
        start_page.draw(panel_context, centre);
    } else if (aligns()) {
        panes.hide();
        ImGui::SetNextWindowPos({static_cast<float>(centre.left), static_cast<float>(centre.top)});
        ImGui::SetNextWindowSize({static_cast<float>(centre.width), static_cast<float>(centre.height)});
        ImGui::Begin("alignment", nullptr,
                     ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                         ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                         ImGuiWindowFlags_NoNav);
        alignment->draw(panel_context);
        ImGui::End();
    } else {
        panes.draw(panel_context, centre);
    }
}

// The alignment view needs spectra, so volumes from files keep their panes and panels.
bool MainWindow::Parts::aligns() const {
    ViewSource* view_source = work.viewer().view_source();
    return view_source != nullptr && work.settings().window().layout == PaneLayout::alignment &&
           view_source->live() != nullptr;
}

// Operations such as simulate and convert need no document.
bool MainWindow::Parts::has_form() const {
    return work.viewer().view_source() == nullptr && work.operating().is_chosen() &&
           PanelColumns::is_open(work, operation_panel);
}

void MainWindow::Parts::draw_overlays(const PanelContext& panel_context) {
    const ImVec2 size{static_cast<float>(native.width()), static_cast<float>(native.height())};
    tour.draw(panel_context, size);
    raw.draw(panel_context, size);
    files.draw(panel_context, size);
    key_map.draw(panel_context, size);
    about.draw(panel_context, size);
    palette.draw(panel_context, size);
    question.draw(panel_context, size);
}

bool MainWindow::Parts::has_sheet() const {
    return palette.is_open() || files.is_open() || raw.is_open() || work.question();
}

bool MainWindow::Parts::types() const {
    return host.accepts_text() || state.active.is_typed;
}

void MainWindow::Parts::take_keys(const std::vector<WindowEvent>& taken) {
    for (const WindowEvent& event : taken) {
        if (const auto* key = std::get_if<KeyPressed>(&event)) {
            if (!key->down || is_modifier(key->name)) continue;
            if (key->repeated && !repeats(key->name)) continue;
            if (acts_when_typed(key->name) && !host.holds("Ctrl") && !host.holds("Alt")) continue;
            press(host.chord(key->name));
        } else if (const auto* typed = std::get_if<TextTyped>(&event)) {
            if (typed->character < 0x21 || typed->character > 0x7E) continue;
            const std::string sign(1, static_cast<char>(typed->character));
            if (acts_when_typed(sign)) press(sign);
        }
    }
}

// Runs the action of a key combination. While text is typed or a sheet is open, only Esc, function keys and Ctrl+K act.
void MainWindow::Parts::press(const std::string& chord) {
    if (chord == "Esc") {
        escape();
        return;
    }
    if (ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel)) return;
    if (chord == "Tab" || chord == "Shift+Tab") return leave_control(chord == "Tab" ? 1 : -1);
    if ((chord == "Enter" || chord == "Space") && !types() && click_focus()) return;
    const bool is_function_key =
        chord.size() > 1 && chord[0] == 'F' && std::isdigit(static_cast<unsigned char>(chord[1])) != 0;
    const bool is_typed_next =
        state.picked != 0 && chord.size() == 1 && is_of_number(static_cast<unsigned char>(chord[0]));
    if (is_typed_next) return;  // digits replace the value of the selected number
    if (work.question() || ((types() || has_sheet()) && !is_function_key && chord != "Ctrl+K")) return;
    if (const Action* action = work.actions().for_key(chord)) {
        const std::string id = action->id;
        try {
            work.actions().run(id);
        } catch (const Error& error) {
            if (error.code() == ErrorCode::device) throw;
            work.notices().report_problem("", error);
        }
    }
}

// Ends typing, which accepts the text in this frame. The names in dialogs keep the keyboard.
void MainWindow::Parts::leave_control(int step) {
    if (types() && !state.active.is_typed) return;
    if (state.active.is_typed) ImGui::SetWindowFocus(nullptr);
    focus_step = step;
}

// Moves the focus at the end of the frame, when the text of the last control has been accepted.
void MainWindow::Parts::move_focus() {
    const int step = std::exchange(focus_step, 0);
    const std::vector<std::string>& order = state.focus.order;
    if (step == 0 || order.empty()) return;
    const auto count = static_cast<int>(order.size());
    const auto found = std::ranges::find(order, state.focus.control);
    const int now = found != order.end() ? static_cast<int>(found - order.begin()) : step > 0 ? -1 : 0;
    state.focus.control = order[static_cast<std::size_t>((now + step + count) % count)];
    state.focus.has_moved = true;
    host.expect_text();
    layout_at = 0;
}

// Clicks the control with the keyboard focus, and returns whether there is one. The pointer stays where it is. A
// control that is not visible yet is being scrolled to.
bool MainWindow::Parts::click_focus() {
    if (!state.focus.names.contains(state.focus.control)) return false;
    if (!state.focus.is_visible) return true;
    const auto [left, top, right, bottom] = state.focus.place;
    const ImVec2 pointer = ImGui::GetIO().MousePos;
    const auto move = [](float x, float y) { return PointerMoved{static_cast<double>(x), static_cast<double>(y)}; };
    host.feed({move(0.5f * (left + right), 0.5f * (top + bottom)), seconds()});
    host.feed({PointerButton{0, true}, seconds()});
    host.feed({PointerButton{0, false}, seconds()});
    if (ImGui::IsMousePosValid(&pointer)) host.feed({move(pointer.x, pointer.y), seconds()});
    return true;
}

// Esc closes one thing at a time, the most recent first. It never stops, discards or quits.
void MainWindow::Parts::escape() {
    if (work.question()) return work.answer(false);
    if (host.had_popup()) return ImGui::SetWindowFocus(nullptr);  // closes all menus and lists
    for (Overlay* overlay : std::initializer_list<Overlay*>{&palette, &about, &key_map, &files}) {
        if (!overlay->is_open()) continue;
        overlay->close();
        return;
    }
    state.picked = 0;
    state.focus.control.clear();
    if (raw.is_open() && !types()) return raw.close(context());
    if (tour.is_open()) return tour.close();
    if (types()) return;
    if (state.measure.kind() != MeasureTool::Kind::none) {
        state.measure.cancel();
    } else if (!panes.leave_full_size() && is_full_screen) {
        native.set_full_screen(is_full_screen = false);
    }
}

// ---- Actions that need a window. Registered with those of the workspace, so that menus, keys and the palette offer
// them, too.

// Adds an action without the keys that other actions already use.
static void add(Actions& actions, Action action) {
    std::erase_if(action.keys, [&actions](const std::string& key) { return actions.for_key(key) != nullptr; });
    if (actions.find(action.id) == nullptr) actions.add(std::move(action));
}

void MainWindow::Parts::add_actions() {
    Actions& actions = work.actions();
    const auto is_open = [this] { return work.viewer().view_source() != nullptr; };

    add_file_actions();

    add(actions, {"window.full_size",
                  "Maximise/restore volume",
                  "Panes",
                  {},
                  "",
                  [this] { panes.toggle_full_size(PaneKind::volume); },
                  is_open});
    add(actions, {"window.whole_sections",
                  "Fit sections",
                  "Panes",
                  {"Shift+F"},
                  "",
                  [this] { panes.show_whole_sections(); },
                  is_open});
    add(actions, {"window.full_screen",
                  "Full screen",
                  "Window",
                  {"F11"},
                  "fullscreen maximise maximize",
                  [this] { native.set_full_screen(is_full_screen = !is_full_screen); },
                  [] { return true; },
                  [this] { return is_full_screen; }});

    add_measure_actions();
    add_panel_actions();
    add_operation_actions();
    add_source_actions();

    add(actions, {"window.palette", "Find a command…", "Help", {"Ctrl+K"}, "", [this] { palette.open(); }});
    add(actions,
        {"window.keys", "Keys and mouse", "Help", {"?", "F1"}, "shortcuts help mouse", [this] { key_map.open(); }});
    add(actions, {"window.tour", "A short tour", "Help", {}, "help introduction tutorial", [this] { tour.open(); }});
    add(actions, {"window.about", "About Echolux", "Help", {}, "", [this] { about.open(); }});
}

void MainWindow::Parts::add_file_actions() {
    Actions& actions = work.actions();
    const auto is_open = [this] { return work.viewer().view_source() != nullptr; };
    add(actions, {.id = "window.open",
                  .title = "Open…",
                  .group = "File",
                  .keys = {"Ctrl+O"},
                  .words = "load file import",
                  .run =
                      [this] {
                          files.ask(work, {FileRequest::Kind::open, "Open", "", {}, [this](const auto& path) {
                                               work.open(path);
                                           }});
                      },
                  .menu_place = 1});
    using Save = std::function<void(const std::filesystem::path&)>;
    const auto asking = [this](const char* title, const char* name, std::vector<std::string> endings, Save save) {
        return [this, request = FileRequest{FileRequest::Kind::save, title, name, std::move(endings),
                                            std::move(save)}] { files.ask(work, request); };
    };
    add(actions, {.id = "window.save_session",
                  .title = "Save session as…",
                  .group = "File",
                  .keys = {"Ctrl+Shift+S"},
                  .words = "project state store",
                  .run = asking("Save session: everything in one file", "session.toml", {".toml"},
                                [this](const auto& path) { work.save_session(path); }),
                  .menu_place = 11});
    add(actions, {.id = "window.picture",
                  .title = "Save image as…",
                  .group = "File",
                  .keys = {"Ctrl+Shift+P"},
                  .words = "export png tiff",
                  .run = asking("Save image at full quality, including all settings", "picture.png", {".png"},
                                [this](const auto& path) { work.exporting().save_picture(path); }),
                  .is_possible = is_open,
                  .menu_place = 21});
    add(actions, {.id = "window.save_volume",
                  .title = "Save volume as…",
                  .group = "File",
                  .keys = {},
                  .words = "export convert",
                  .run = asking("Save volume", "volume.nrrd", written_endings(),
                                [this](const auto& path) { work.exporting().save_volume(path); }),
                  .is_possible = is_open,
                  .menu_place = 22});
    add(actions, {.id = "window.quit",
                  .title = "Quit",
                  .group = "File",
                  .keys = {"Ctrl+Q"},
                  .run = [this] { ask_to_close(); },
                  .menu_place = 50});
}

// Each action starts or ends its tool and unfolds the panel with the result.
void MainWindow::Parts::add_measure_actions() {
    using Kind = MeasureTool::Kind;
    const auto is_open = [this] { return work.viewer().view_source() != nullptr; };
    const auto add_tool = [&](const char* id, const char* name, const char* key, const char* words, Kind kind) {
        add(work.actions(), {id,
                             name,
                             "Measure",
                             {key},
                             words,
                             [this, kind] {
                                 const bool is_on = state.measure.kind() == kind;
                                 state.measure.begin(is_on ? Kind::none : kind);
                                 if (!is_on && !PanelColumns::is_open(work, "measure"))
                                     PanelColumns::toggle(work, "measure");
                             },
                             is_open,
                             [this, kind] { return state.measure.kind() == kind; }});
    };
    add_tool("measure.distance", "Measure distance", "Shift+D", "length ruler size caliper thickness line",
             Kind::distance);
    add_tool("measure.angle", "Measure angle", "Shift+A", "degrees protractor", Kind::angle);
    add_tool("measure.probe", "Probe values", "Shift+V", "value voxel intensity pick", Kind::probe);
    add_tool("measure.profile", "Profile along a line", "Shift+P", "line plot graph section intensity", Kind::profile);
    add(work.actions(), {"measure.clear",
                         "Remove all measurements",
                         "Measure",
                         {},
                         "delete remove",
                         [this] {
                             state.measure.forget();
                             const std::vector<double> none;
                             work.change_together("view.distances", {{"view.distances", none}, {"view.angles", none}});
                         },
                         is_open});
}

// Actions such as "Panel: Flow", which unfold a panel and show its side, or fold it. The palette never folds a panel
// that was searched for.
void MainWindow::Parts::add_panel_actions() {
    for (const auto& panel : columns.panels()) {
        if (panel->side() == PanelSide::bottom) continue;
        const auto is_shown = [this, one = panel.get()] {
            const WindowSettings& window = work.settings().window();
            return PanelColumns::is_open(work, one->id()) &&
                   (one->side() == PanelSide::left ? window.left_panels : window.right_panels);
        };
        const std::string id(panel->id());
        add(work.actions(),
            {"panel." + id,
             "Panel: " + std::string(panel->title()),
             "Window",
             {},
             std::string(panel->words()),
             [this, one = panel.get(), is_shown] {
                 const bool was_shown = is_shown();
                 const bool is_left = one->side() == PanelSide::left;
                 if (!was_shown) work.change(is_left ? "window.left_panels" : "window.right_panels", true);
                 if (was_shown || !PanelColumns::is_open(work, one->id())) PanelColumns::toggle(work, one->id());
             },
             [this, one = panel.get()] { return work.viewer().view_source() != nullptr && one->is_available(work); },
             is_shown,
             [this, id] { state.wanted_panel = id; }});
    }
}

// Actions such as "Operation: Filter…", which show the form of the operation.
void MainWindow::Parts::add_operation_actions() {
    for (const OperationInfo* info : operations()) {
        std::string title(info->command);
        title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
        const auto show = [this, name = info->name] {
            work.operating().choose(name);
            if (!work.settings().window().right_panels) work.change("window.right_panels", true);
            if (!PanelColumns::is_open(work, operation_panel)) PanelColumns::toggle(work, operation_panel);
            state.wanted_panel = operation_panel;
        };
        add(work.actions(), {"operation." + std::string(info->name),
                             "Operation: " + title + "…",
                             "Operations",
                             {},
                             std::string(info->summary),
                             show});
    }
}

void MainWindow::Parts::add_source_actions() {
    for (const SceneEntry& scene : state.scenes) {
        const auto open = [this, name = scene.name] {
            SourceRequest wanted;
            wanted.name = "sim:" + name;
            work.open_source(wanted);
        };
        add(work.actions(), {"source.sim." + scene.name, "Simulator: " + scene.title, "Source", {}, "", open});
    }
    add(work.actions(), {"source.plugin",
                         "Open a plugin…",
                         "Source",
                         {},
                         "driver instrument hardware dll so library device camera",
                         [this] {
                             files.ask(work, {FileRequest::Kind::open,
                                              "Open a plugin: shared library of an instrument",
                                              "",
                                              {".so"},
                                              [this](const auto& path) {
                                                  SourceRequest wanted;
                                                  wanted.name = "plugin:" + path.string();
                                                  work.open_source(wanted);
                                              }});
                         }});
}

// Opens the dialogs and programs that panels have requested in this frame.
void MainWindow::Parts::grant_file_request() {
    if (state.desktop_request) native.show_outside(*std::exchange(state.desktop_request, std::nullopt));
    if (!state.file_request) return;
    files.ask(work, *std::exchange(state.file_request, std::nullopt));
    layout_at = 0;
}

}  // namespace echolux
