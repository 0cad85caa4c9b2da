// A window of the window system, as Echolux needs it: events in, a surface for Vulkan out. GLFW opens real ones;
// another kind has no screen and is given its events by tests, bench and gallery.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "render/device_choice.h"

namespace echolux {

// Places are in pixels of the screen from the left top.
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

// What happened, and when by the window's own clock: however long a picture takes, a double click is one by the times
// of its clicks.
struct HeardEvent {
    WindowEvent what;
    double time_s = 0;
};

enum class PointerShape { arrow, text, hand, move, resize_across, resize_down };

class NativeWindow {
  public:
    virtual ~NativeWindow() = default;

    virtual std::int64_t width() const = 0;  // pixels; 0 while it is minimised
    virtual std::int64_t height() const = 0;
    virtual double scale() const = 0;  // of text and controls that the screen wants

    // Whether its size is that of the user's own window, which opens as large the next time.
    virtual bool keeps_size() const { return true; }
    virtual WindowSurface surface() = 0;

    // Seconds of a clock that never runs backwards: that of the events, and of all that the window does.
    virtual double now_s() const = 0;

    // What happened since the last call, in its order; waits for something at most so long.
    virtual std::vector<HeardEvent> take_events(double max_s) = 0;

    // Ends the waiting of take_events(), or the next one. Any thread.
    virtual void wake() = 0;

    // Notes what has happened so far, with its time. To be called where drawing takes long.
    virtual void look() = 0;

    virtual void set_size(std::int64_t width, std::int64_t height) = 0;  // asks for it; pixels
    virtual void set_title(const std::string& title) = 0;
    virtual void set_pointer(PointerShape shape) = 0;
    virtual void set_full_screen(bool full) = 0;
    virtual std::string clipboard() = 0;
    virtual void set_clipboard(const std::string& text) = 0;

    // By the program that the desktop has for it; a folder: by its file manager.
    virtual void show_outside(const std::filesystem::path& path) = 0;
};

// Throws Error{device}: no screen, no window system; says what to do without one.
std::unique_ptr<NativeWindow> open_glfw_window(std::int64_t width, std::int64_t height, const std::string& title);

// No screen: events are what push() was given.
class OffscreenWindow : public NativeWindow {
  public:
    virtual void push(WindowEvent event) = 0;
    virtual void push(HeardEvent event) = 0;  // that happened then

    // From now on time passes by waiting for events, and by `picture_s` with each look(): a machine that draws as many
    // pictures a second, however busy the real one is.
    virtual void keep_time_by_hand(double picture_s) = 0;

    // What show_outside() was asked for, in order.
    virtual const std::vector<std::filesystem::path>& shown_outside() const = 0;
};
std::unique_ptr<OffscreenWindow> open_offscreen_window(std::int64_t width, std::int64_t height, double scale);

}  // namespace echolux
