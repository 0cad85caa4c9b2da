// Real threads with a clock that tests can advance.
#pragma once

#include <atomic>
#include <chrono>
#include <utility>

#include "engine/live/threads.h"

namespace echolux::test {

class LeapingThreads : public Threads {
  public:
    Clock::time_point now() override { return real_threads().now() + leap_.load(); }
    LiveThread start(Work work) override { return real_threads().start(std::move(work)); }
    bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& told, const std::stop_token& stop,
              Clock::time_point time, const std::function<bool()>& is_so) override {
        const bool has_end = time != Clock::time_point::max();
        return real_threads().wait(lock, told, stop, has_end ? time - leap_.load() : time, is_so);
    }

    // Only one thread may call it at a time.
    void leap(Clock::duration by) { leap_ = leap_.load() + by; }

  private:
    std::atomic<Clock::duration> leap_{};
};

}  // namespace echolux::test
