#include "ui/web/serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "assets/assets.h"
#include "compute/error.h"
#include "engine/build.h"
#include "ui/control/message.h"

namespace echolux {
namespace {

constexpr double answers_within_s = 10;  // time limit for the controlling user to answer a request for control
constexpr double idle_s = 60;            // idle time after which control is handed over at once

// Names of CSS cursors.
const char* name_of(PointerShape shape) {
    switch (shape) {
        case PointerShape::arrow: return "default";
        case PointerShape::text: return "text";
        case PointerShape::hand: return "pointer";
        case PointerShape::move: return "move";
        case PointerShape::resize_across: return "ew-resize";
        case PointerShape::resize_down: return "ns-resize";
    }
    return "default";
}

double epoch_s() {
    return std::chrono::duration<double>(Inbox::Clock::now().time_since_epoch()).count();
}

}  // namespace

Serving::Serving(ServedWindow& native, Workspace& work, MainWindow& window, ServingOptions options,
                 std::function<void(const Incoming&)> others)
    : native_(native), work_(work), window_(window), options_(std::move(options)), others_(std::move(others)) {
    native_.on_arrival = [this](const Incoming& arrival) { take(arrival); };
    native_.on_pointer = [this](PointerShape shape) {
        tell_steering(line_of({{"type", "pointer"}, {"shape", name_of(shape)}}));
    };
    stream_codecs();  // slow on first use, so call it before a viewer waits
    native_.on_clipboard = [this](const std::string& text) {
        tell_steering(line_of({{"type", "clipboard"}, {"text", text}}));
    };
}

Serving::~Serving() {
    native_.on_arrival = {};
    native_.on_pointer = {};
    native_.on_clipboard = {};
}

bool Serving::turn(double max_wait_s) {
    if (!window_.turn(max_wait_s)) return false;
    if (asking_ && native_.now_s() > asked_s_ + answers_within_s) steer(*asking_);
    tell_recording(false);
    show();
    std::erase_if(ending_, [](const auto& stream) { return stream->has_ended(); });
    return true;
}

// Sends the state of the record button when it changes, or always if `is_asked`.
void Serving::tell_recording(bool is_asked) {
    const Action* record = work_.actions().find("source.record");
    if (record == nullptr) return;
    const std::string now =
        line_of({{"type", "recording"}, {"is_possible", record->is_possible()}, {"is_on", record->is_on()}});
    if (std::exchange(recording_, now) == now && !is_asked) return;
    for (auto& [id, viewer] : viewers_) {
        if (viewer.stream != nullptr) viewer.connection->send_text(now);
    }
}

// Offers a new picture to all viewers. When the window is at rest, streams repeat the last picture losslessly.
void Serving::show() {
    const bool has_viewers =
        std::ranges::any_of(viewers_, [](const auto& one) { return one.second.stream != nullptr; });
    if (!has_viewers) {
        latest_.reset();  // outdated by the time a viewer connects
        return;
    }
    const WindowStats stats = window_.stats();
    const bool is_new = std::exchange(shown_, stats.shown) != stats.shown || latest_ == nullptr;
    if (is_new) {
        Image image = window_.picture();
        if (image.pixels.empty()) return;  // device lost
        latest_ = std::make_shared<const ServedPicture>(
            ServedPicture{++pictures_, image.width, image.height, std::move(image.pixels), epoch_s()});
    }
    for (auto& [id, viewer] : viewers_) {
        if (viewer.stream == nullptr || (viewer.has_picture && !is_new)) continue;
        viewer.stream->offer(latest_, viewer.input, latest_->at_s - viewer.input_s);
        viewer.has_picture = true;
    }
    if (!stats.is_at_rest) return;
    for (auto& [id, viewer] : viewers_) {
        if (viewer.stream != nullptr) viewer.stream->rest();
    }
}

Serving::Viewer* Serving::viewer(std::uint64_t id) {
    const auto found = viewers_.find(id);
    return found == viewers_.end() ? nullptr : &found->second;
}

// Messages of pages are handled here; JSON-RPC messages and other connections go to `others_`.
void Serving::take(const Incoming& arrival) {
    if (arrival.from->is_page()) {
        if (arrival.kind == Incoming::Kind::opened) viewers_[arrival.from->id()].connection = arrival.from;
        if (arrival.kind == Incoming::Kind::closed) leave(arrival.from->id());
    }
    const bool is_text = arrival.kind == Incoming::Kind::text;
    const bool is_pages = arrival.from->is_page() && is_text && !is_for_control(arrival.bytes);
    if (!is_pages) {
        if (others_) others_(arrival);
        return;
    }
    Viewer* from = viewer(arrival.from->id());
    if (from == nullptr) return;
    try {
        take_message(*from, arrival);
    } catch (const Error& error) {
        from->connection->close(error.line());
    }
}

void Serving::take_message(Viewer& viewer, const Incoming& arrival) {
    const PageMessage message = parsed_page_message(arrival.bytes);
    const bool steers = viewer.connection->id() == steering_;
    if (const auto* shown = std::get_if<PageShown>(&message)) {
        if (viewer.stream != nullptr) viewer.stream->shown(shown->picture);
    } else if (const auto* input = std::get_if<PageInput>(&message)) {
        if (steers) take_input(viewer, *input, arrival.at);
    } else if (const auto* hello = std::get_if<PageHello>(&message)) {
        take_hello(viewer, *hello);
    } else if (const auto* size = std::get_if<PageSize>(&message)) {
        viewer.size = *size;
        if (steers) resize(*size);
    } else if (const auto* wanted = std::get_if<PageSteer>(&message)) {
        take_steer(viewer, wanted->what);
    } else if (const auto* level = std::get_if<PageQuality>(&message)) {
        if (viewer.stream != nullptr) viewer.stream->set_level(level->level);
    } else if (!steers) {
        return;  // the remaining messages require control
    } else if (const auto* clipboard = std::get_if<PageClipboard>(&message)) {
        native_.set_clipboard_from_afar(clipboard->text);
    } else if (const auto* dropped = std::get_if<PageDropped>(&message)) {
        take_dropped(*dropped, arrival.at);
    } else if (const auto* action = std::get_if<PageAction>(&message)) {
        run_action(action->id);
    }
}

// The first viewer that may steer gets control.
void Serving::take_hello(Viewer& viewer, const PageHello& hello) {
    if (viewer.stream == nullptr)
        viewer.stream = std::make_unique<PictureStream>(viewer.connection, hello.codecs);
    else
        viewer.stream->set_codecs(hello.codecs);
    viewer.has_picture = false;
    viewer.heard_s = native_.now_s();
    viewer.page = hello.page;
    take_place_of_earlier(viewer);
    if (steering_ == 0 && viewer.connection->may_steer()) steering_ = viewer.connection->id();
    welcome(viewer);
    tell_roles();
}

// A page that lost its network reconnects before its old connection is known to be dead. The new connection inherits
// control.
void Serving::take_place_of_earlier(const Viewer& viewer) {
    const auto earlier = std::ranges::find_if(viewers_, [&](const auto& entry) {
        const Viewer& other = entry.second;
        return &other != &viewer && !viewer.page.empty() && other.page == viewer.page &&
               other.connection->may_steer() == viewer.connection->may_steer();
    });
    if (earlier == viewers_.end()) return;
    const std::uint64_t id = earlier->first;
    earlier->second.connection->close("the page has connected again");
    let_go(std::move(earlier->second.stream));
    viewers_.erase(earlier);
    if (asking_ == id) asking_ = viewer.connection->id();
    if (steering_ == id) steer(viewer.connection->id());
}

// The stream encodes its last picture; turn() destroys it afterwards.
void Serving::let_go(std::unique_ptr<PictureStream> stream) {
    if (stream == nullptr) return;
    stream->end();
    ending_.push_back(std::move(stream));
}

void Serving::take_input(Viewer& viewer, const PageInput& input, Inbox::Clock::time_point at) {
    viewer.heard_s = native_.now_s();
    viewer.input = input.number;
    viewer.input_s = std::chrono::duration<double>(at.time_since_epoch()).count();
    for (const WindowEvent& event : input.events) native_.push(event, at);
}

// Accepts only files directly in the upload folder.
void Serving::take_dropped(const PageDropped& dropped, Inbox::Clock::time_point at) {
    if (options_.uploads.empty()) return;
    FilesDropped files;
    for (const std::string& name : dropped.names) {
        std::error_code problem;
        const std::filesystem::path path = options_.uploads / std::filesystem::path(name).filename();
        if (std::filesystem::path(name).filename() == name && std::filesystem::exists(path, problem))
            files.paths.push_back(path);
    }
    if (!files.paths.empty()) native_.push(files, at);
}

void Serving::run_action(const std::string& id) {
    try {
        const Action* action = work_.actions().find(id);
        if (action != nullptr && action->is_possible()) work_.actions().run(id);
        native_.push(FocusChanged{true}, Inbox::Clock::now());  // redraws the interface
    } catch (const Error& error) {
        work_.notices().trouble("", error);
    }
}

// Handles a request for control. The user in control may hand over or refuse; without an answer, control is handed over
// after 10 s.
void Serving::take_steer(Viewer& viewer, PageSteer::What what) {
    const std::uint64_t id = viewer.connection->id();
    Viewer* steers = this->viewer(steering_);
    if (what == PageSteer::What::ask) {
        if (!viewer.connection->may_steer() || id == steering_) return;
        if (steers == nullptr || native_.now_s() > steers->heard_s + idle_s) return steer(id);
        if (asking_) return;
        asking_ = id;
        asked_s_ = native_.now_s();
        steers->connection->send_text(line_of({{"type", "asked"}, {"seconds", answers_within_s}}));
    } else if (id == steering_ && asking_) {
        const std::uint64_t asks = *asking_;
        if (what == PageSteer::What::give) return steer(asks);
        asking_.reset();
        if (Viewer* other = this->viewer(asks)) other->connection->send_text(line_of({{"type", "kept"}}));
    }
}

// Gives control to a viewer, or to none (0).
void Serving::steer(std::uint64_t id) {
    asking_.reset();
    native_.push(FocusChanged{false}, Inbox::Clock::now());  // releases pressed buttons and keys
    native_.push(FocusChanged{true}, Inbox::Clock::now());
    steering_ = id;
    if (const Viewer* now = viewer(id); now != nullptr && now->size) resize(*now->size);
    tell_roles();
}

// A pending request gets control if its owner leaves.
void Serving::leave(std::uint64_t id) {
    if (Viewer* gone = viewer(id)) let_go(std::move(gone->stream));
    viewers_.erase(id);
    if (asking_ == id) asking_.reset();
    if (id != steering_) return tell_roles();
    const std::uint64_t next = asking_.value_or(0);
    steer(viewer(next) != nullptr ? next : 0);
}

void Serving::welcome(Viewer& viewer) {
    viewer.connection->send_text(line_of({{"type", "welcome"},
                                          {"version", version},
                                          {"id", viewer.connection->id()},
                                          {"may_steer", viewer.connection->may_steer()},
                                          {"uploads", !options_.uploads.empty()},
                                          {"watch", viewer.connection->may_steer() ? options_.watch_token : ""}}));
}

void Serving::tell_roles() {
    const auto viewers = std::ranges::count_if(viewers_, [](const auto& one) { return one.second.stream != nullptr; });
    for (auto& [id, viewer] : viewers_) {
        if (viewer.stream == nullptr) continue;
        viewer.connection->send_text(line_of(
            {{"type", "roles"}, {"steers", id == steering_}, {"is_steered", steering_ != 0}, {"viewers", viewers}}));
    }
    tell_recording(true);
}

void Serving::tell_steering(const std::string& text) {
    if (Viewer* steers = viewer(steering_)) steers->connection->send_text(text);
}

void Serving::resize(const PageSize& size) {
    if (!options_.resizes) return;
    if (size.width == native_.width() && size.height == native_.height() && size.scale == native_.scale()) return;
    native_.push(Resized{size.width, size.height, size.scale}, Inbox::Clock::now());
}

// ---- Served window

namespace {

// Requests that arrive within this time share one turn of the window.
constexpr double gathers_s = 0.004;

}  // namespace

ServedWindow::ServedWindow(Inbox& inbox, std::int64_t width, std::int64_t height, double scale)
    : inbox_(inbox), width_(width), height_(height), scale_(scale) {}

void ServedWindow::push(WindowEvent event, Inbox::Clock::time_point at) {
    if (const auto* resized = std::get_if<Resized>(&event)) {
        width_ = resized->width;
        height_ = resized->height;
        scale_ = resized->scale;
    }
    events_.push_back({std::move(event), seconds_of(at)});
}

// Waits for events. Arrivals that produce none are handled here as well, and then others are collected for a short
// time.
std::vector<HeardEvent> ServedWindow::take_events(double max_s) {
    double until = now_s() + std::max(0.0, max_s);
    bool is_first = true;
    while (events_.empty()) {
        const double left = until - now_s();
        if (left <= 0 && !is_first) break;
        is_first = false;
        const std::vector<Incoming> arrivals = inbox_.take(left);
        for (const Incoming& arrival : arrivals) {
            if (on_arrival) on_arrival(arrival);
        }
        if (arrivals.empty()) break;  // woken, or timeout
        until = std::min(until, now_s() + gathers_s);
    }
    return std::exchange(events_, {});
}

void ServedWindow::set_size(std::int64_t width, std::int64_t height) {
    push(Resized{width, height, scale_}, Inbox::Clock::now());
}

void ServedWindow::set_pointer(PointerShape shape) {
    if (std::exchange(pointer_, shape) != shape && on_pointer) on_pointer(shape);
}

void ServedWindow::set_clipboard(const std::string& text) {
    clipboard_ = text;
    if (on_clipboard) on_clipboard(text);
}

// ---- Web pages

WebContent web_pages() {
    constexpr const char* script = "text/javascript; charset=utf-8";
    WebContent content;
    content.login = shipped_file("web/login.html");
    content.pages = {{"/", "text/html; charset=utf-8", shipped_file("web/index.html")},
                     {"/style.css", "text/css; charset=utf-8", shipped_file("web/style.css")},
                     {"/icon.svg", "image/svg+xml", shipped_file("web/icon.svg")}};
    for (const char* name : {"main", "connection", "video", "input", "touch", "files", "shown"}) {
        const std::string file = std::string(name) + ".js";
        content.pages.push_back({"/" + file, script, shipped_file("web/" + file)});
    }
    return content;
}

}  // namespace echolux
