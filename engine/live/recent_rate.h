// Rate per second, averaged over the last two seconds. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <utility>

namespace echolux {

class RecentRate {
  public:
    using Clock = std::chrono::steady_clock;

    void add(std::int64_t amount, Clock::time_point now) {
        total_ += amount;
        totals_.emplace_back(now, total_);
        forget(now);
    }

    // Returns 0 if nothing came recently.
    double per_s(Clock::time_point now) {
        forget(now);
        if (totals_.size() < 2) return 0;
        const double over = std::chrono::duration<double>(now - totals_.front().first).count();
        return over > 0 ? static_cast<double>(total_ - totals_.front().second) / over : 0;
    }

  private:
    static constexpr std::chrono::seconds window{2};

    void forget(Clock::time_point now) {
        while (!totals_.empty() && now - totals_.front().first > window) totals_.pop_front();
    }

    std::deque<std::pair<Clock::time_point, std::int64_t>> totals_;
    std::int64_t total_ = 0;
};

}  // namespace echolux
