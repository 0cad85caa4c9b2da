#include "ui/net/connection.h"

#include <algorithm>
#include <utility>

namespace echolux {

// ---- Inbox

void Inbox::put(Incoming arrival) {
    const std::lock_guard lock(mutex_);
    arrivals_.push_back(std::move(arrival));
    changed_.notify_one();
    if (tell_) std::exchange(tell_, nullptr)();
}

std::vector<Incoming> Inbox::take(double max_s) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(std::clamp(max_s, 0.0, 1e6)),
                      [this] { return !arrivals_.empty(); });
    return std::exchange(arrivals_, {});
}

void Inbox::tell(std::function<void()> arrived) {
    const std::lock_guard lock(mutex_);
    if (!arrivals_.empty()) return arrived();
    tell_ = std::move(arrived);
}

}  // namespace echolux
