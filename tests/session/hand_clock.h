// A clock that tests advance: sources paced by it behave as in real time without waiting, and the test knows when they
// are done.
#pragma once

#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>

#include "engine/acquire/source.h"

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

    // Sets the time and returns when the sleeping thread next waits for a later time. Returns false if that never
    // happens.
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
