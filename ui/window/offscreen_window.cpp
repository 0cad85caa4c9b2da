// A window without a screen: its size and events are set by its owner.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "ui/window/native_window.h"

namespace echolux {
namespace {

class Offscreen final : public OffscreenWindow {
  public:
    Offscreen(std::int64_t width, std::int64_t height, double scale) : width_(width), height_(height), scale_(scale) {}

    std::int64_t width() const override { return width_; }
    std::int64_t height() const override { return height_; }
    double scale() const override { return scale_; }
    WindowSurface surface() override { return {}; }

    void push(WindowEvent event) override {
        if (const auto* resized = std::get_if<Resized>(&event)) {
            width_ = resized->width;
            height_ = resized->height;
            scale_ = resized->scale;
        }
        const std::lock_guard lock(mutex_);
        events_.push_back(std::move(event));
        changed_.notify_all();
    }

    std::vector<WindowEvent> take_events(double max_s) override {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, std::chrono::duration<double>(std::max(max_s, 0.0)),
                          [this] { return !events_.empty(); });
        return std::exchange(events_, {});
    }

    void set_size(std::int64_t width, std::int64_t height) override { push(Resized{width, height, scale_}); }
    void set_title(const std::string&) override {}
    void set_pointer(PointerShape) override {}
    void set_full_screen(bool) override {}
    std::string clipboard() override { return clipboard_; }
    void set_clipboard(const std::string& text) override { clipboard_ = text; }

  private:
    std::int64_t width_, height_;
    double scale_;
    std::string clipboard_;

    std::mutex mutex_;  // of what follows
    std::condition_variable changed_;
    std::vector<WindowEvent> events_;
};

}  // namespace

std::unique_ptr<OffscreenWindow> open_offscreen_window(std::int64_t width, std::int64_t height, double scale) {
    return std::make_unique<Offscreen>(width, height, scale);
}

}  // namespace echolux
