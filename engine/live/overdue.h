// Tracks something that may be overdue: reports once when it takes too long, and once when it arrives.
#pragma once

#include <chrono>
#include <optional>

namespace echolux {

class Overdue {
  public:
    using Clock = std::chrono::steady_clock;

    // Starts waiting. Continues an earlier wait that was reported as overdue.
    void wait(Clock::time_point now) {
        if (!is_said_) since_ = now;
    }

    // Ends waiting. Returns the seconds waited if it was reported as overdue.
    std::optional<double> end(Clock::time_point now) {
        const bool was_said = is_said_;
        const std::optional<double> seconds = waited_s(now);
        forget();
        return was_said ? seconds : std::nullopt;
    }

    // Cancels waiting.
    void forget() {
        since_.reset();
        is_said_ = false;
    }

    // Returns the seconds waited, once, when they exceed `longest`.
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
