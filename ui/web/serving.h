// The window for people elsewhere: who is there, who steers, their input, and what each gets to see. All of it
// on the window's thread, but for encoding.
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
#include "ui/web/page_message.h"
#include "ui/web/picture_stream.h"
#include "ui/web/served_window.h"
#include "ui/window/window.h"
#include "ui/workspace/workspace.h"

namespace echolux {

struct ServingOptions {
    std::filesystem::path uploads;  // where dropped files are; empty: none are taken
    std::string watch_token;        // for the address that others may watch by
    bool resizes = true;            // the picture follows the steering browser's size
};

class Serving {
  public:
    // All outlive it. `others`: what is not the page's: messages for the remote control, lines.
    Serving(ServedWindow& native, Workspace& work, MainWindow& window, ServingOptions options,
            std::function<void(const Incoming&)> others = {});
    ~Serving();

    // One turn of the window, and what comes of it for viewers. False: it is to be closed.
    bool turn(double max_wait_s);

  private:
    struct Viewer {
        ConnectionPtr connection;
        std::unique_ptr<PictureStream> stream;  // once it has said hello
        std::uint32_t input = 0;                // the last that came
        double input_s = 0;                     // its time
        std::optional<PageSize> size;
        double heard_s = 0;
        std::string page = {};
        bool has_picture = false;  // the latest one, or one before
    };

    void take(const Incoming& arrival);
    void take_message(Viewer& viewer, const Incoming& arrival);
    void take_input(Viewer& viewer, const PageInput& input, Inbox::Clock::time_point at);
    void take_steer(Viewer& viewer, PageSteer::What what);
    void take_dropped(const PageDropped& dropped, Inbox::Clock::time_point at);
    void run_action(const std::string& id);
    void take_hello(Viewer& viewer, const PageHello& hello);
    void take_place_of_earlier(const Viewer& viewer);
    void welcome(Viewer& viewer);
    void leave(std::uint64_t id);
    void let_go(std::unique_ptr<PictureStream> stream);
    void steer(std::uint64_t id);
    void tell_roles();
    void tell_recording(bool is_asked);
    void tell_steering(const std::string& text);
    void resize(const PageSize& size);
    void show();
    Viewer* viewer(std::uint64_t id);

    ServedWindow& native_;
    Workspace& work_;
    MainWindow& window_;
    ServingOptions options_;
    std::function<void(const Incoming&)> others_;

    std::map<std::uint64_t, Viewer> viewers_;
    std::vector<std::unique_ptr<PictureStream>> ending_;  // encode their last picture
    std::uint64_t steering_ = 0;
    std::optional<std::uint64_t> asking_;  // wants to steer
    double asked_s_ = 0;
    PictureStream::Picture latest_;
    std::int64_t shown_ = -1;  // of the window's stats, that latest_ is
    std::uint32_t pictures_ = 0;
    std::string recording_;  // what was told of it
};

}  // namespace echolux
