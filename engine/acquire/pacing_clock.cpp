#include "engine/acquire/pacing_clock.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace echolux {
namespace {

class SteadyPacingClock : public PacingClock {
  public:
    double now_s() override {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }

    bool sleep_until(double time_s, const std::stop_token& stop) override {
        using Time = std::chrono::steady_clock::time_point;
        const Time time(std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(time_s)));
        std::unique_lock lock(mutex_);
        woken_.wait_until(lock, stop, time, [] { return false; });
        return !stop.stop_requested();
    }

  private:
    std::mutex mutex_;
    std::condition_variable_any woken_;
};

}  // namespace

std::shared_ptr<PacingClock> steady_pacing_clock() {
    return std::make_shared<SteadyPacingClock>();
}

}  // namespace echolux
