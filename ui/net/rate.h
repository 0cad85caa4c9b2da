// Token bucket with a burst of one second. Times are passed by the caller.
#pragma once

#include <algorithm>

namespace echolux {

class Rate {
  public:
    Rate(double per_s, double now_s) : per_s_(per_s), has_(std::max(per_s, 1.0)), at_s_(now_s) {}

    // Takes one token and returns the time in s to wait for it; 0 if it was available.
    double take(double now_s) {
        has_ = std::min(std::max(per_s_, 1.0), has_ + (now_s - at_s_) * per_s_);
        at_s_ = now_s;
        has_ -= 1;
        return has_ >= 0 ? 0 : -has_ / per_s_;
    }

    // Takes one token if it is available now. Otherwise changes nothing and returns false.
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
