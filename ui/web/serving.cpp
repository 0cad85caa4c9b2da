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
        send_steering(line_of({{"type", "pointer"}, {"shape", name_of(shape)}}));
    };
    stream_codecs();  // slow on first use, so call it before a viewer waits
    native_.on_clipboard = [this](const std::string& text) {
        send_steering(line_of({{"type", "clipboard"}, {"text", text}}));
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
    send_switches(false);
    show();
    std::erase_if(ending_, [](const auto& stream) { return stream->has_ended(); });
    return true;
}

// Sends the states of the page's buttons for source and recording when they change, or always if `is_asked`.
void Serving::send_switches(bool is_asked) {
    for (const auto& [type, id] :
         {std::pair{"running", "source.start_stop"}, std::pair{"recording", "source.record"}}) {
        const Action* action = work_.actions().find(id);
        if (action == nullptr) continue;
        const std::string now =
            line_of({{"type", type}, {"is_possible", action->is_possible()}, {"is_on", action->is_on()}});
        if (std::exchange(switches_[type], now) == now && !is_asked) continue;
        for (auto& [number, client] : clients_) {
            if (client.stream != nullptr) client.connection->send_text(now);
        }
    }
}

// Offers a new picture to all viewers. When the window is at rest, streams repeat the last picture losslessly.
void Serving::show() {
    const bool has_viewers =
        std::ranges::any_of(clients_, [](const auto& one) { return one.second.stream != nullptr; });
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
    for (auto& [id, client] : clients_) {
        if (client.stream == nullptr || (client.has_picture && !is_new)) continue;
        client.stream->offer(latest_, client.input, latest_->at_s - client.input_s);
        client.has_picture = true;
    }
    if (!stats.is_at_rest) return;
    for (auto& [id, client] : clients_) {
        if (client.stream != nullptr) client.stream->rest();
    }
}

Serving::PageClient* Serving::client(std::uint64_t id) {
    const auto found = clients_.find(id);
    return found == clients_.end() ? nullptr : &found->second;
}

// Messages of pages are handled here; JSON-RPC messages and other connections go to `others_`.
void Serving::take(const Incoming& arrival) {
    if (arrival.from->is_page()) {
        if (arrival.kind == Incoming::Kind::opened) clients_[arrival.from->id()].connection = arrival.from;
        if (arrival.kind == Incoming::Kind::closed) leave(arrival.from->id());
    }
    const bool is_text = arrival.kind == Incoming::Kind::text;
    const bool is_pages = arrival.from->is_page() && is_text && !is_for_control(arrival.bytes);
    if (!is_pages) {
        if (others_) others_(arrival);
        return;
    }
    PageClient* from = client(arrival.from->id());
    if (from == nullptr) return;
    try {
        take_message(*from, arrival);
    } catch (const Error& error) {
        from->connection->close(error.line());
    }
}

void Serving::take_message(PageClient& client, const Incoming& arrival) {
    const PageMessage message = parsed_page_message(arrival.bytes);
    const bool steers = client.connection->id() == steering_;
    if (const auto* shown = std::get_if<PageAcknowledgement>(&message)) {
        if (client.stream != nullptr) client.stream->shown(shown->picture);
    } else if (const auto* input = std::get_if<PageInput>(&message)) {
        if (steers) take_input(client, *input, arrival.at);
    } else if (const auto* hello = std::get_if<PageHello>(&message)) {
        take_hello(client, *hello);
    } else if (const auto* size = std::get_if<PageSize>(&message)) {
        client.size = *size;
        if (steers) resize(*size);
    } else if (const auto* wanted = std::get_if<PageSteer>(&message)) {
        take_steer(client, wanted->what);
    } else if (const auto* level = std::get_if<PageQuality>(&message)) {
        if (client.stream != nullptr) client.stream->set_level(level->level);
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
void Serving::take_hello(PageClient& client, const PageHello& hello) {
    if (client.stream == nullptr)
        client.stream = std::make_unique<PictureStream>(client.connection, hello.codecs);
    else
        client.stream->set_codecs(hello.codecs);
    client.has_picture = false;
    client.last_input_s = native_.now_s();
    client.page = hello.page;
    take_place_of_earlier(client);
    if (steering_ == 0 && client.connection->may_steer()) steering_ = client.connection->id();
    welcome(client);
    send_roles();
}

// A page that lost its network reconnects before its old connection is known to be dead. The new connection inherits
// control.
void Serving::take_place_of_earlier(const PageClient& client) {
    const auto earlier = std::ranges::find_if(clients_, [&](const auto& entry) {
        const PageClient& other = entry.second;
        return &other != &client && !client.page.empty() && other.page == client.page &&
               other.connection->may_steer() == client.connection->may_steer();
    });
    if (earlier == clients_.end()) return;
    const std::uint64_t id = earlier->first;
    earlier->second.connection->close("the page has reconnected");
    release_later(std::move(earlier->second.stream));
    clients_.erase(earlier);
    if (asking_ == id) asking_ = client.connection->id();
    if (steering_ == id) steer(client.connection->id());
}

// The stream encodes its last picture; turn() destroys it afterwards.
void Serving::release_later(std::unique_ptr<PictureStream> stream) {
    if (stream == nullptr) return;
    stream->end();
    ending_.push_back(std::move(stream));
}

void Serving::take_input(PageClient& client, const PageInput& input, Inbox::Clock::time_point at) {
    client.last_input_s = native_.now_s();
    client.input = input.number;
    client.input_s = std::chrono::duration<double>(at.time_since_epoch()).count();
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
        work_.notices().report_problem("", error);
    }
}

// Handles a request for control. The user in control may hand over or refuse; without an answer, control is handed over
// after 10 s.
void Serving::take_steer(PageClient& client, PageSteer::Command what) {
    const std::uint64_t id = client.connection->id();
    PageClient* steers = this->client(steering_);
    if (what == PageSteer::Command::request) {
        if (!client.connection->may_steer() || id == steering_) return;
        if (steers == nullptr || native_.now_s() > steers->last_input_s + idle_s) return steer(id);
        if (asking_) return;
        asking_ = id;
        asked_s_ = native_.now_s();
        steers->connection->send_text(line_of({{"type", "asked"}, {"seconds", answers_within_s}}));
    } else if (id == steering_ && asking_) {
        const std::uint64_t asks = *asking_;
        if (what == PageSteer::Command::release) return steer(asks);
        asking_.reset();
        if (PageClient* other = this->client(asks)) other->connection->send_text(line_of({{"type", "kept"}}));
    }
}

// Gives control to a viewer, or to none (0).
void Serving::steer(std::uint64_t id) {
    asking_.reset();
    native_.push(FocusChanged{false}, Inbox::Clock::now());  // releases pressed buttons and keys
    native_.push(FocusChanged{true}, Inbox::Clock::now());
    steering_ = id;
    if (const PageClient* now = client(id); now != nullptr && now->size) resize(*now->size);
    send_roles();
}

// A pending request gets control if its owner leaves.
void Serving::leave(std::uint64_t id) {
    if (PageClient* gone = client(id)) release_later(std::move(gone->stream));
    clients_.erase(id);
    if (asking_ == id) asking_.reset();
    if (id != steering_) return send_roles();
    const std::uint64_t next = asking_.value_or(0);
    steer(client(next) != nullptr ? next : 0);
}

void Serving::welcome(PageClient& client) {
    client.connection->send_text(line_of({{"type", "welcome"},
                                          {"version", version},
                                          {"id", client.connection->id()},
                                          {"may_steer", client.connection->may_steer()},
                                          {"uploads", !options_.uploads.empty()},
                                          {"watch", client.connection->may_steer() ? options_.watch_token : ""}}));
}

void Serving::send_roles() {
    const auto clients = std::ranges::count_if(clients_, [](const auto& one) { return one.second.stream != nullptr; });
    for (auto& [id, client] : clients_) {
        if (client.stream == nullptr) continue;
        client.connection->send_text(line_of(
            {{"type", "roles"}, {"steers", id == steering_}, {"is_steered", steering_ != 0}, {"viewers", clients}}));
    }
    send_switches(true);
}

void Serving::send_steering(const std::string& text) {
    if (PageClient* steers = client(steering_)) steers->connection->send_text(text);
}

void Serving::resize(const PageSize& size) {
    if (!options_.resizes) return;
    if (size.width == native_.width() && size.height == native_.height() && size.scale == native_.scale()) return;
    native_.push(Resized{size.width, size.height, size.scale}, Inbox::Clock::now());
}

// ---- Served window

// Requests that arrive within this time share one turn of the window.
constexpr double gathers_s = 0.004;

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
std::vector<TimestampedEvent> ServedWindow::take_events(double max_s) {
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

// Returns a page for visitors without access, which cannot load further files.
static std::string closed_page(const std::string& name) {
    constexpr std::string_view place = "<!-- content -->\n";
    std::string page(shipped_file("web/page.html"));
    return page.replace(page.find(place), place.size(), shipped_file("web/" + name));
}

WebContent web_pages() {
    constexpr const char* script = "text/javascript; charset=utf-8";
    WebContent content;
    content.login = closed_page("login.html");
    content.denied = closed_page("denied.html");
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
