// Interface to a window of the window system: events in, a Vulkan surface out. The GLFW implementation opens real
// windows. The offscreen implementation has no screen and receives events from tests, benchmarks and the gallery.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "render/gpu_device.h"

namespace echolux {

// Positions are in pixels from the upper left corner.
struct PointerMoved {
    double x, y;
};
struct PointerButton {
    int button;
    bool down;
};  // 0 left, 1 right, 2 middle
struct Scrolled {
    double x, y;
};
struct KeyPressed {
    std::string name;
    bool down;
    bool repeated;
};  // "A", "Left", "Esc", "F1", "Ctrl"; without modifiers
struct TextTyped {
    std::uint32_t character;
};
struct FilesDropped {
    std::vector<std::filesystem::path> paths;
};
struct Resized {
    std::int64_t width, height;
    double scale;
};
struct FocusChanged {
    bool has_focus;
};
struct CloseRequested {};
using WindowEvent = std::variant<PointerMoved, PointerButton, Scrolled, KeyPressed, TextTyped, FilesDropped, Resized,
                                 FocusChanged, CloseRequested>;

// An event with its time on the window's clock, so that double clicks do not depend on the frame rate.
struct TimestampedEvent {
    WindowEvent what;
    double time_s = 0;
};

enum class PointerShape { arrow, text, hand, move, resize_across, resize_down };

class NativeWindow {
  public:
    virtual ~NativeWindow() = default;

    virtual std::int64_t width() const = 0;  // pixels; 0 while minimized
    virtual std::int64_t height() const = 0;
    virtual double scale() const = 0;  // scale of text and controls requested by the screen

    // Returns true if the size is chosen by the user and should be restored at the next start.
    virtual bool keeps_size() const { return true; }
    virtual WindowSurface surface() = 0;

    // Returns the seconds of a monotonic clock, used for events and for all work of the window.
    virtual double now_s() const = 0;

    // Returns the events since the last call in order. Waits at most `max_s` seconds for the first one.
    virtual std::vector<TimestampedEvent> take_events(double max_s) = 0;

    // Interrupts the current or next wait in take_events(). Thread-safe.
    virtual void wake() = 0;

    // False if the window draws a picture only when MainWindow::picture() reads it.
    virtual bool draws_each_picture() const { return true; }

    // Records the events that have occurred, with their times. Call it before and between long drawing operations.
    virtual void look() = 0;

    // request in pixels; the window system may ignore it
    virtual void set_size(std::int64_t width, std::int64_t height) = 0;
    virtual void set_title(const std::string& title) = 0;
    virtual void set_pointer(PointerShape shape) = 0;
    virtual void set_full_screen(bool full) = 0;
    virtual std::string clipboard() = 0;
    virtual void set_clipboard(const std::string& text) = 0;

    // Opens files with the default program of the desktop, and folders in the file manager.
    virtual void show_outside(const std::filesystem::path& path) = 0;
};

// Throws Error{device} without a screen or window system; the remedy names commands that work without a window.
std::unique_ptr<NativeWindow> open_glfw_window(std::int64_t width, std::int64_t height, const std::string& title);

// Window without a screen. Events come from push().
class OffscreenWindow : public NativeWindow {
  public:
    virtual void push(WindowEvent event) = 0;
    virtual void push(TimestampedEvent event) = 0;  // with its own time

    // Replaces the real clock: time advances by waiting for events, and by `picture_s` with each look(). This simulates
    // a machine of constant speed, independent of the load of the real one.
    virtual void keep_time_by_hand(double picture_s) = 0;

    // Lays out each picture, but draws only those that are read. Drawing takes most of the time on a CPU.
    virtual void draw_when_read() = 0;

    // Returns the paths passed to show_outside(), in order.
    virtual const std::vector<std::filesystem::path>& shown_outside() const = 0;
};
std::unique_ptr<OffscreenWindow> open_offscreen_window(std::int64_t width, std::int64_t height, double scale);

}  // namespace echolux
