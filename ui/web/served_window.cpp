#include "ui/web/served_window.h"

#include <algorithm>
#include <utility>

namespace echolux {
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

}  // namespace echolux
