// A token bucket with a burst of one second; the caller passes the time.
#pragma once

#include <algorithm>

namespace echolux {

class Rate {
  public:
    Rate(double per_s, double now_s) : per_s_(per_s), has_(std::max(per_s, 1.0)), at_s_(now_s) {}

    // One more: how long it has to wait, 0: not at all.
    double take(double now_s) {
        has_ = std::min(std::max(per_s_, 1.0), has_ + (now_s - at_s_) * per_s_);
        at_s_ = now_s;
        has_ -= 1;
        return has_ >= 0 ? 0 : -has_ / per_s_;
    }

    // Only where it need not wait.
    bool try_take(double now_s) {
        const Rate before = *this;
        if (take(now_s) <= 0) return true;
        *this = before;
        return false;
    }

  private:
    double per_s_, has_, at_s_;
};

}  // namespace echolux
