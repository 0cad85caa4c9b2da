// Shares a window with viewers in browsers: tracks viewers and control, passes on input, and streams pictures. Runs on
// the window's thread; only encoding has its own threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ui/net/access.h"
#include "ui/net/connection.h"
#include "ui/net/net_server.h"
#include "ui/web/page_message.h"
#include "ui/web/picture_stream.h"
#include "ui/window/native_window.h"
#include "ui/window/window.h"
#include "ui/workspace/workspace.h"

namespace echolux {

// ---- Window without a screen, with input from browsers. Its wait for events is a wait for network messages, which are
// handled on the window's thread between two frames.

class ServedWindow : public NativeWindow {
  public:
    ServedWindow(Inbox& inbox, std::int64_t width, std::int64_t height, double scale);

    // Called for each message within take_events(); it may call push().
    std::function<void(const Incoming&)> on_arrival;
    // Called when the pointer shape or the clipboard changes, for the browser in control.
    std::function<void(PointerShape)> on_pointer;
    std::function<void(const std::string&)> on_clipboard;

    // Adds an event that arrived at `at`.
    void push(WindowEvent event, Inbox::Clock::time_point at);

    std::int64_t width() const override { return width_; }
    std::int64_t height() const override { return height_; }
    double scale() const override { return scale_; }
    WindowSurface surface() override { return {}; }
    double now_s() const override { return seconds_of(Inbox::Clock::now()); }
    std::vector<TimestampedEvent> take_events(double max_s) override;
    void wake() override {}                             // the inbox wakes the wait itself
    bool keeps_size() const override { return false; }  // the size of a phone is not a size to restore later
    void look() override {}                             // messages carry the time of their arrival
    void set_size(std::int64_t width, std::int64_t height) override;
    void set_title(const std::string&) override {}
    void set_pointer(PointerShape shape) override;
    void set_full_screen(bool) override {}
    std::string clipboard() override { return clipboard_; }
    void set_clipboard(const std::string& text) override;
    void set_clipboard_from_afar(const std::string& text) { clipboard_ = text; }
    void show_outside(const std::filesystem::path&) override {}

  private:
    double seconds_of(Inbox::Clock::time_point at) const { return std::chrono::duration<double>(at - begin_).count(); }

    Inbox& inbox_;
    std::int64_t width_, height_;
    double scale_;
    std::string clipboard_;
    PointerShape pointer_ = PointerShape::arrow;
    Inbox::Clock::time_point begin_ = Inbox::Clock::now();
    std::vector<TimestampedEvent> events_;
};

struct ServingOptions {
    std::filesystem::path uploads;  // folder of uploaded files; empty: uploads are refused
    std::string watch_token;        // token for the address that users pass on to other viewers
    bool resizes = true;            // the picture follows the size of the controlling browser
};

class Serving {
  public:
    // All references must outlive this object. `others` receives messages that are not from pages: JSON-RPC and line
    // connections.
    Serving(ServedWindow& native, Workspace& work, MainWindow& window, ServingOptions options,
            std::function<void(const Incoming&)> others = {});
    ~Serving();

    // Runs one turn of the window and serves viewers. Returns false when the window is to be closed.
    bool turn(double max_wait_s);

  private:
    // State of one page.
    struct PageClient {
        ConnectionPtr connection;
        std::unique_ptr<PictureStream> stream;  // created by its hello message
        std::uint32_t input = 0;                // number of the last input
        double input_s = 0;                     // its arrival time
        std::optional<PageSize> size;
        double last_input_s = 0;   // time of the last input, window clock
        std::string page = {};     // identifies the page across connections
        bool has_picture = false;  // the newest picture, or an earlier one, has been offered
    };

    void take(const Incoming& arrival);
    void take_message(PageClient& client, const Incoming& arrival);
    void take_input(PageClient& client, const PageInput& input, Inbox::Clock::time_point at);
    void take_steer(PageClient& client, PageSteer::Command what);
    void take_dropped(const PageDropped& dropped, Inbox::Clock::time_point at);
    void run_action(const std::string& id);
    void take_hello(PageClient& client, const PageHello& hello);
    void take_place_of_earlier(const PageClient& client);
    void welcome(PageClient& client);
    void leave(std::uint64_t id);
    void release_later(std::unique_ptr<PictureStream> stream);
    void steer(std::uint64_t id);
    void send_roles();
    void send_switches(bool is_asked);
    void send_steering(const std::string& text);
    void resize(const PageSize& size);
    void show();
    PageClient* client(std::uint64_t id);

    ServedWindow& native_;
    Workspace& work_;
    MainWindow& window_;
    ServingOptions options_;
    std::function<void(const Incoming&)> others_;

    std::map<std::uint64_t, PageClient> clients_;
    std::vector<std::unique_ptr<PictureStream>> ending_;  // encoding their last picture
    // Connection in control; 0: none.
    std::uint64_t steering_ = 0;
    std::optional<std::uint64_t> asking_;  // connection that requested control
    double asked_s_ = 0;
    PictureStream::Picture latest_;
    std::int64_t shown_ = -1;  // frame count of the window at latest_
    std::uint32_t pictures_ = 0;
    std::map<std::string, std::string> switches_;  // last message sent, by type
};

// ---- Files of the web page, embedded in the program.

// Returns all files with their paths and MIME types.
WebContent web_pages();

}  // namespace echolux
