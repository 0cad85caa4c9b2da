// A clock that a test turns by hand: sources that it paces do what they would do, without waiting, and the test knows
// when they have done it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>

#include "engine/acquire/pacing_clock.h"

namespace echolux::test {

class HandClock : public PacingClock {
  public:
    double now_s() override {
        const std::lock_guard lock(mutex_);
        return now_s_;
    }

    bool sleep_until(double time_s, const std::stop_token& stop) override {
        std::unique_lock lock(mutex_);
        sleeper_s_ = time_s;
        changed_.notify_all();
        changed_.wait(lock, stop, [&] { return now_s_ >= time_s; });
        sleeper_s_ = awake;
        return !stop.stop_requested();
    }

    void set(double time_s) {
        const std::lock_guard lock(mutex_);
        now_s_ = time_s;
        changed_.notify_all();
    }

    // Returns when whoever sleeps has nothing more to do until a later time. False: it never came to that.
    bool turn_to(double time_s) {
        set(time_s);
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds(30),
                                 [&] { return sleeper_s_ > time_s && sleeper_s_ < awake; });
    }

  private:
    static constexpr double awake = std::numeric_limits<double>::infinity();

    std::mutex mutex_;
    std::condition_variable_any changed_;
    double now_s_ = 0;
    double sleeper_s_ = awake;
};

}  // namespace echolux::test
