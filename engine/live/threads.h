// Threads, waits and clock of the live system. Tests replace them by a scheduler that runs one thread at a time, chosen
// by a seed, and advances time when all threads wait.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

namespace echolux {

// Like std::jthread: requests a stop and joins on destruction.
class LiveThread {
  public:
    class Running {
      public:
        virtual ~Running() = default;
        virtual void join() = 0;
    };

    LiveThread() = default;
    LiveThread(std::stop_source stop, std::unique_ptr<Running> running)
        : stop_(std::move(stop)), running_(std::move(running)) {}
    LiveThread(LiveThread&&) = default;
    LiveThread& operator=(LiveThread&& other) noexcept {
        end();
        stop_ = std::move(other.stop_);
        running_ = std::move(other.running_);
        return *this;
    }
    ~LiveThread() { end(); }

    void request_stop() {
        if (running_) stop_.request_stop();
    }

    // Does nothing without a thread, or if it was joined before.
    void join() {
        if (const std::unique_ptr<Running> running = std::move(running_)) running->join();
    }

  private:
    void end() {
        request_stop();
        join();
    }

    std::stop_source stop_{std::nostopstate};
    std::unique_ptr<Running> running_;
};

// Interface to threads and time.
class Threads {
  public:
    using Clock = std::chrono::steady_clock;
    using Work = std::function<void(const std::stop_token&)>;

    virtual ~Threads() = default;

    virtual Clock::time_point now() = 0;

    // Runs `work` in a new thread.
    virtual LiveThread start(Work work) = 0;

    // Waits until `is_so`, `time` or `stop`, and returns is_so(). The condition may only change with `lock` held, and
    // its changes are notified through `changed`. Clock::time_point::max(): no time limit.
    virtual bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed,
                      const std::stop_token& stop, Clock::time_point time, const std::function<bool()>& is_so) = 0;

    // Returns false if stopped.
    bool sleep(std::chrono::nanoseconds duration, const std::stop_token& stop = {});
};

// Returns the threads of the machine.
Threads& real_threads();

}  // namespace echolux
