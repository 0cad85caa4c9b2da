#include "engine/live/threads.h"

#include <thread>
#include <utility>

namespace echolux {
namespace {

class RealThread : public LiveThread::Running {
  public:
    void start(std::function<void()> work) { thread_ = std::thread(std::move(work)); }
    void join() override { thread_.join(); }

  private:
    std::thread thread_;
};

class RealThreads : public Threads {
  public:
    Clock::time_point now() override { return Clock::now(); }

    LiveThread start(Work work) override {
        std::stop_source stop;
        // First, because a std::thread without an owner would terminate the program.
        auto running = std::make_unique<RealThread>();
        running->start([work = std::move(work), token = stop.get_token()] { work(token); });
        return {std::move(stop), std::move(running)};
    }

    bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed, const std::stop_token& stop,
              Clock::time_point time, const std::function<bool()>& is_so) override {
        if (time == Clock::time_point::max()) return changed.wait(lock, stop, is_so);
        return changed.wait_until(lock, stop, time, is_so);
    }
};

}  // namespace

bool Threads::sleep(std::chrono::nanoseconds duration, const std::stop_token& stop) {
    std::mutex asleep;
    std::condition_variable_any never;
    std::unique_lock lock(asleep);
    wait(lock, never, stop, now() + duration, [] { return false; });
    return !stop.stop_requested();
}

Threads& real_threads() {
    static RealThreads threads;
    return threads;
}

}  // namespace echolux
