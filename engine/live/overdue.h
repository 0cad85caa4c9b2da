// Something that is waited for, and perhaps in vain: said once when it has taken too long, and once when it is over.
#pragma once

#include <chrono>
#include <optional>

namespace echolux {

class Overdue {
  public:
    using Clock = std::chrono::steady_clock;

    // From now on it is waited for; where it has been said to be overdue, that goes on.
    void wait(Clock::time_point now) {
        if (!is_said_) since_ = now;
    }

    // It has come. Seconds that it took, where it was said to be overdue.
    std::optional<double> end(Clock::time_point now) {
        const bool was_said = is_said_;
        const std::optional<double> seconds = waited_s(now);
        forget();
        return was_said ? seconds : std::nullopt;
    }

    // Nobody waits any more.
    void forget() {
        since_.reset();
        is_said_ = false;
    }

    // Seconds so far, once: when they are more than `longest`.
    std::optional<double> too_long(Clock::time_point now, std::chrono::duration<double> longest) {
        if (!since_ || is_said_ || now - *since_ < longest) return {};
        is_said_ = true;
        return waited_s(now);
    }

  private:
    std::optional<double> waited_s(Clock::time_point now) const {
        if (!since_) return {};
        return std::chrono::duration<double>(now - *since_).count();
    }

    std::optional<Clock::time_point> since_;
    bool is_said_ = false;
};

}  // namespace echolux
