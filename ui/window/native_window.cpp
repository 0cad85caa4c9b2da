// Windows on X11, Wayland, Windows or macOS with GLFW 3.3, and without a screen. Converts GLFW's screen coordinates to
// pixels. Callbacks only record events.
#include "ui/window/native_window.h"

#include <GLFW/glfw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>

#include "app/seconds_since.h"
#include "compute/error.h"
#include "compute/indexing.h"

// GLFW declares this function only if the Vulkan headers are included, which only render/ uses. The types stand for
// VkResult (VkInstance, window, allocator, VkSurfaceKHR*).
extern "C" int glfwCreateWindowSurface(void* instance, GLFWwindow* window, const void* allocator,
                                       std::uint64_t* surface);

namespace echolux {
namespace {

constexpr const char* without_screen =
    "work without a window: `echolux render` for files, `echolux live --headless` for sources";

std::string glfw_problem() {
    const char* text = nullptr;
    glfwGetError(&text);
    return text != nullptr ? text : "the window system gives no reason";
}

struct NamedKey {
    int key;
    const char* name;
};
constexpr std::array named_keys{
    NamedKey{GLFW_KEY_SPACE, "Space"},
    NamedKey{GLFW_KEY_ESCAPE, "Esc"},
    NamedKey{GLFW_KEY_ENTER, "Enter"},
    NamedKey{GLFW_KEY_KP_ENTER, "Enter"},
    NamedKey{GLFW_KEY_TAB, "Tab"},
    NamedKey{GLFW_KEY_BACKSPACE, "Backspace"},
    NamedKey{GLFW_KEY_INSERT, "Insert"},
    NamedKey{GLFW_KEY_DELETE, "Delete"},
    NamedKey{GLFW_KEY_LEFT, "Left"},
    NamedKey{GLFW_KEY_RIGHT, "Right"},
    NamedKey{GLFW_KEY_UP, "Up"},
    NamedKey{GLFW_KEY_DOWN, "Down"},
    NamedKey{GLFW_KEY_PAGE_UP, "PageUp"},
    NamedKey{GLFW_KEY_PAGE_DOWN, "PageDown"},
    NamedKey{GLFW_KEY_HOME, "Home"},
    NamedKey{GLFW_KEY_END, "End"},
    NamedKey{GLFW_KEY_LEFT_SHIFT, "Shift"},
    NamedKey{GLFW_KEY_RIGHT_SHIFT, "Shift"},
    NamedKey{GLFW_KEY_LEFT_CONTROL, "Ctrl"},
    NamedKey{GLFW_KEY_RIGHT_CONTROL, "Ctrl"},
    NamedKey{GLFW_KEY_LEFT_ALT, "Alt"},
    NamedKey{GLFW_KEY_RIGHT_ALT, "Alt"},
    NamedKey{GLFW_KEY_LEFT_SUPER, "Super"},
    NamedKey{GLFW_KEY_RIGHT_SUPER, "Super"},
    NamedKey{GLFW_KEY_KP_ADD, "+"},
    NamedKey{GLFW_KEY_KP_SUBTRACT, "-"},
    NamedKey{GLFW_KEY_KP_MULTIPLY, "*"},
    NamedKey{GLFW_KEY_KP_DIVIDE, "/"},
};

// Returns the name printed on the current keyboard layout, or an empty text for unknown keys.
std::string key_name(int key, int scancode) {
    for (const NamedKey& named : named_keys) {
        if (named.key == key) return named.name;
    }
    if (key >= GLFW_KEY_F1 && key <= GLFW_KEY_F25) return fmt::format("F{}", key - GLFW_KEY_F1 + 1);
    if (key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_9) return fmt::format("{}", key - GLFW_KEY_KP_0);
    const char* printed = glfwGetKeyName(key, scancode);
    if (printed == nullptr) return "";
    std::string name(printed);
    if (name.size() == 1) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    return name;
}

// Opens a path with the default program of the desktop, in the background. Single quotes in the path are escaped for
// the shell.
void open_on_desktop(const std::filesystem::path& path) {
    std::string quoted = "'";
    for (const char c : path.string()) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
#ifdef __APPLE__
    const std::string opener = "open ";
#else
    const std::string opener = "xdg-open ";
#endif
    [[maybe_unused]] const int status = std::system((opener + quoted + "' >/dev/null 2>&1 &").c_str());
}

int button_number(int glfw_button) {
    constexpr std::array numbers{0, 1, 2};  // left, right, middle: same numbers as in GLFW
    static_assert(GLFW_MOUSE_BUTTON_LEFT == 0 && GLFW_MOUSE_BUTTON_RIGHT == 1 && GLFW_MOUSE_BUTTON_MIDDLE == 2);
    return glfw_button >= 0 && glfw_button < 3 ? numbers[index(glfw_button)] : -1;
}

class GlfwWindow final : public NativeWindow {
  public:
    GlfwWindow(std::int64_t width, std::int64_t height, const std::string& title) {
        if (glfwInit() != GLFW_TRUE) {
            throw Error(ErrorCode::device, "cannot open a display: " + glfw_problem(), "window", without_screen);
        }
        try {
            open(static_cast<int>(width), static_cast<int>(height), title);
        } catch (...) {
            glfwTerminate();
            throw;
        }
    }

    ~GlfwWindow() override {
        for (GLFWcursor* cursor : cursors_) {
            if (cursor != nullptr) glfwDestroyCursor(cursor);
        }
        glfwDestroyWindow(window_);
        glfwTerminate();
    }

    std::int64_t width() const override { return size().first; }
    std::int64_t height() const override { return size().second; }

    double scale() const override {
        float across = 1, down = 1;
        glfwGetWindowContentScale(window_, &across, &down);
        return across > 0 ? across : 1;
    }

    WindowSurface surface() override {
        WindowSurface surface;
        std::uint32_t count = 0;
        const char** names = glfwGetRequiredInstanceExtensions(&count);
        if (names == nullptr) {
            throw Error(ErrorCode::device, "Vulkan does not support this window system", "window", without_screen);
        }
        surface.extensions.assign(names, names + count);
        surface.make = [window = window_](void* instance) {
            std::uint64_t made = 0;
            if (glfwCreateWindowSurface(instance, window, nullptr, &made) == 0) return made;
            throw Error(ErrorCode::device, "cannot render to the window: " + glfw_problem(), "window", without_screen);
        };
        return surface;
    }

    double now_s() const override { return seconds_since(begin_); }
    void look() override { glfwPollEvents(); }

    std::vector<TimestampedEvent> take_events(double max_s) override {
        if (max_s > 0 && events_.empty())
            glfwWaitEventsTimeout(max_s);
        else
            glfwPollEvents();
        return std::exchange(events_, {});
    }

    void wake() override { glfwPostEmptyEvent(); }

    void set_size(std::int64_t width, std::int64_t height) override {
        const double pixels = pixels_per_point();
        glfwSetWindowSize(window_, static_cast<int>(static_cast<double>(width) / pixels),
                          static_cast<int>(static_cast<double>(height) / pixels));
    }

    void set_title(const std::string& title) override { glfwSetWindowTitle(window_, title.c_str()); }
    void set_pointer(PointerShape shape) override {
        if (shape == pointer_) return;
        pointer_ = shape;
        glfwSetCursor(window_, cursors_[static_cast<std::size_t>(shape)]);
    }

    void set_full_screen(bool full) override {
        if (full == (glfwGetWindowMonitor(window_) != nullptr)) return;
        if (!full) {
            glfwSetWindowMonitor(window_, nullptr, before_[0], before_[1], before_[2], before_[3], GLFW_DONT_CARE);
            return;
        }
        glfwGetWindowPos(window_, &before_[0], &before_[1]);
        glfwGetWindowSize(window_, &before_[2], &before_[3]);
        GLFWmonitor* monitor = glfwGetPrimaryMonitor();
        if (monitor == nullptr) return;
        const GLFWvidmode* mode = glfwGetVideoMode(monitor);
        glfwSetWindowMonitor(window_, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
    }

    std::string clipboard() override {
        const char* text = glfwGetClipboardString(window_);
        return text != nullptr ? text : "";
    }
    void set_clipboard(const std::string& text) override { glfwSetClipboardString(window_, text.c_str()); }
    void show_outside(const std::filesystem::path& path) override { open_on_desktop(path); }

  private:
    void open(int width, int height, const std::string& title) {
        if (glfwVulkanSupported() != GLFW_TRUE) {
            throw Error(ErrorCode::device, "there is no Vulkan loader or driver for windows", "window",
                        "install a Vulkan driver (mesa-vulkan-drivers for any CPU)");
        }
        // Vulkan creates its own surface, so GLFW must not create an OpenGL context.
        glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
        window_ = glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr);
        if (window_ == nullptr) {
            throw Error(ErrorCode::device, "cannot open a window: " + glfw_problem(), "window", without_screen);
        }
        constexpr std::array shapes{GLFW_ARROW_CURSOR,     GLFW_IBEAM_CURSOR,   GLFW_HAND_CURSOR,
                                    GLFW_CROSSHAIR_CURSOR, GLFW_HRESIZE_CURSOR, GLFW_VRESIZE_CURSOR};
        for (std::size_t i = 0; i < shapes.size(); ++i) cursors_[i] = glfwCreateStandardCursor(shapes[i]);
        glfwSetWindowUserPointer(window_, this);
        listen();
    }

    static GlfwWindow& of(GLFWwindow* window) { return *static_cast<GlfwWindow*>(glfwGetWindowUserPointer(window)); }
    static void note(GLFWwindow* window, WindowEvent event) { of(window).add(std::move(event)); }
    void add(WindowEvent event) { events_.push_back({std::move(event), now_s()}); }

    void listen() {
        glfwSetCursorPosCallback(window_, [](GLFWwindow* window, double x, double y) {
            const double pixels = of(window).pixels_per_point();
            note(window, PointerMoved{x * pixels, y * pixels});
        });
        glfwSetMouseButtonCallback(window_, [](GLFWwindow* window, int button, int action, int) {
            if (button_number(button) >= 0) note(window, PointerButton{button_number(button), action == GLFW_PRESS});
        });
        glfwSetScrollCallback(window_, [](GLFWwindow* window, double x, double y) { note(window, Scrolled{x, y}); });
        glfwSetKeyCallback(window_, [](GLFWwindow* window, int key, int scancode, int action, int) {
            const std::string name = key_name(key, scancode);
            if (!name.empty()) note(window, KeyPressed{name, action != GLFW_RELEASE, action == GLFW_REPEAT});
        });
        glfwSetCharCallback(window_,
                            [](GLFWwindow* window, unsigned int character) { note(window, TextTyped{character}); });
        glfwSetDropCallback(window_, [](GLFWwindow* window, int count, const char** paths) {
            note(window, FilesDropped{{paths, paths + count}});
        });
        glfwSetWindowFocusCallback(
            window_, [](GLFWwindow* window, int focused) { note(window, FocusChanged{focused == GLFW_TRUE}); });
        // Ignore the request here; the main window decides whether to close.
        glfwSetWindowCloseCallback(window_, [](GLFWwindow* window) {
            glfwSetWindowShouldClose(window, GLFW_FALSE);
            note(window, CloseRequested{});
        });
        glfwSetFramebufferSizeCallback(window_, [](GLFWwindow* window, int, int) { of(window).note_size(); });
        glfwSetWindowContentScaleCallback(window_, [](GLFWwindow* window, float, float) { of(window).note_size(); });
        glfwSetWindowRefreshCallback(window_, [](GLFWwindow* window) { of(window).note_size(); });
    }

    void note_size() { add(Resized{width(), height(), scale()}); }

    std::pair<std::int64_t, std::int64_t> size() const {
        int width = 0, height = 0;
        glfwGetFramebufferSize(window_, &width, &height);
        return {width, height};
    }

    // Differs from 1 on displays with scaling, depending on the window system.
    double pixels_per_point() const {
        int points = 0, down = 0;
        glfwGetWindowSize(window_, &points, &down);
        return points > 0 ? static_cast<double>(width()) / points : 1;
    }

    GLFWwindow* window_ = nullptr;
    std::array<GLFWcursor*, 6> cursors_{};  // indexed by PointerShape
    PointerShape pointer_ = PointerShape::arrow;
    std::array<int, 4> before_{};  // position and size before full screen
    std::vector<TimestampedEvent> events_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

std::unique_ptr<NativeWindow> open_glfw_window(std::int64_t width, std::int64_t height, const std::string& title) {
    return std::make_unique<GlfwWindow>(width, height, title);
}

}  // namespace echolux

namespace echolux {

// ---- Window without a screen. Its owner sets size and events.

namespace {

class Offscreen final : public OffscreenWindow {
  public:
    Offscreen(std::int64_t width, std::int64_t height, double scale) : width_(width), height_(height), scale_(scale) {}

    std::int64_t width() const override { return width_; }
    std::int64_t height() const override { return height_; }
    double scale() const override { return scale_; }
    WindowSurface surface() override { return {}; }

    void push(WindowEvent event) override { push(TimestampedEvent{std::move(event), now_s()}); }

    void push(TimestampedEvent event) override {
        if (const auto* resized = std::get_if<Resized>(&event.what)) {
            width_ = resized->width;
            height_ = resized->height;
            scale_ = resized->scale;
        }
        const std::lock_guard lock(mutex_);
        events_.push_back(std::move(event));
        changed_.notify_all();
    }

    double now_s() const override { return picture_s_ ? by_hand_s_ : seconds_since(begin_); }

    // With a simulated clock, a short real wait still gives other threads time to run.
    std::vector<TimestampedEvent> take_events(double max_s) override {
        constexpr double max_real_s = 0.002;
        const double wait_s = picture_s_ ? std::min(max_s, max_real_s) : max_s;
        std::unique_lock lock(mutex_);
        const bool is_there = changed_.wait_for(lock, std::chrono::duration<double>(std::max(wait_s, 0.0)),
                                                [this] { return is_woken_ || !events_.empty(); });
        is_woken_ = false;
        if (!is_there) by_hand_s_ += std::max(max_s, 0.0);
        return std::exchange(events_, {});
    }

    void wake() override {
        const std::lock_guard lock(mutex_);
        is_woken_ = true;
        changed_.notify_all();
    }

    void look() override { by_hand_s_ += picture_s_.value_or(0); }
    void draw_when_read() override { draws_each_ = false; }
    bool draws_each_picture() const override { return draws_each_; }
    void keep_time_by_hand(double picture_s) override {
        by_hand_s_ = now_s();
        picture_s_ = picture_s;
    }

    void set_size(std::int64_t width, std::int64_t height) override { push(Resized{width, height, scale_}); }
    void set_title(const std::string&) override {}
    void set_pointer(PointerShape) override {}
    void set_full_screen(bool) override {}
    std::string clipboard() override { return clipboard_; }
    void set_clipboard(const std::string& text) override { clipboard_ = text; }
    void show_outside(const std::filesystem::path& path) override { shown_outside_.push_back(path); }
    const std::vector<std::filesystem::path>& shown_outside() const override { return shown_outside_; }

  private:
    std::int64_t width_, height_;
    double scale_;
    bool draws_each_ = true;
    std::string clipboard_;
    std::vector<std::filesystem::path> shown_outside_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::optional<double> picture_s_;  // nullopt: real clock
    double by_hand_s_ = 0;

    std::mutex mutex_;  // protects the members below
    std::condition_variable changed_;
    std::vector<TimestampedEvent> events_;
    bool is_woken_ = false;
};

}  // namespace

std::unique_ptr<OffscreenWindow> open_offscreen_window(std::int64_t width, std::int64_t height, double scale) {
    return std::make_unique<Offscreen>(width, height, scale);
}

}  // namespace echolux
