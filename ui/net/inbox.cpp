#include "ui/net/inbox.h"

#include <algorithm>
#include <utility>

namespace echolux {

void Inbox::put(Incoming arrival) {
    const std::lock_guard lock(mutex_);
    arrivals_.push_back(std::move(arrival));
    changed_.notify_one();
}

std::vector<Incoming> Inbox::take(double max_s) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(std::clamp(max_s, 0.0, 1e6)),
                      [this] { return is_woken_ || !arrivals_.empty(); });
    is_woken_ = false;
    return std::exchange(arrivals_, {});
}

void Inbox::wake() {
    const std::lock_guard lock(mutex_);
    is_woken_ = true;
    changed_.notify_one();
}

}  // namespace echolux
