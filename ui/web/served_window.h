// Window without a screen, with input from browsers. Its wait for events is a wait for network messages, which are
// handled on the window's thread between two frames.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ui/net/inbox.h"
#include "ui/window/native_window.h"

namespace echolux {

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
    std::vector<HeardEvent> take_events(double max_s) override;
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
    std::vector<HeardEvent> events_;
};

}  // namespace echolux
