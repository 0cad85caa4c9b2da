// The threads of the live system, what they wait for, and the clock that they go by. A test puts a scheduler of its own
// in their place: then one thread runs at a time, which one is chosen by a seed, and time passes when all of them wait.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

namespace echolux {

// As std::jthread: asked to stop and joined by its end.
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

    // Does nothing where there is none, or it has been joined.
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

class Threads {
  public:
    using Clock = std::chrono::steady_clock;
    using Work = std::function<void(const std::stop_token&)>;

    virtual ~Threads() = default;

    virtual Clock::time_point now() = 0;

    virtual LiveThread start(Work work) = 0;

    // Until `is_so`, which only changes with `lock` held and is told through `told`; until `time`; or until `stop`.
    // Whether it is so. Clock::time_point::max(): there is no such time.
    virtual bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& told,
                      const std::stop_token& stop, Clock::time_point time, const std::function<bool()>& is_so) = 0;

    // False: stopped.
    bool sleep(std::chrono::nanoseconds duration, const std::stop_token& stop = {});
};

// Those of the machine.
Threads& real_threads();

}  // namespace echolux
