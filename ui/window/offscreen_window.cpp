// Window without a screen. Its owner sets size and events.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "app/seconds_since.h"
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

    void push(WindowEvent event) override { push(HeardEvent{std::move(event), now_s()}); }

    void push(HeardEvent event) override {
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
    std::vector<HeardEvent> take_events(double max_s) override {
        constexpr double moment_s = 0.002;
        const double waits_s = picture_s_ ? std::min(max_s, moment_s) : max_s;
        std::unique_lock lock(mutex_);
        const bool is_there = changed_.wait_for(lock, std::chrono::duration<double>(std::max(waits_s, 0.0)),
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
    std::string clipboard_;
    std::vector<std::filesystem::path> shown_outside_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::optional<double> picture_s_;  // nullopt: real clock
    double by_hand_s_ = 0;

    std::mutex mutex_;  // protects the members below
    std::condition_variable changed_;
    std::vector<HeardEvent> events_;
    bool is_woken_ = false;
};

}  // namespace

std::unique_ptr<OffscreenWindow> open_offscreen_window(std::int64_t width, std::int64_t height, double scale) {
    return std::make_unique<Offscreen>(width, height, scale);
}

}  // namespace echolux
