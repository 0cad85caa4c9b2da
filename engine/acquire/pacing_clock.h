// The clock that paces simulated and replayed sources. Tests put in one that they turn by hand.
#pragma once

#include <memory>
#include <stop_token>

namespace echolux {

class PacingClock {
  public:
    virtual ~PacingClock() = default;

    virtual double now_s() = 0;  // from any beginning

    // Until `time_s`, at once if that is past. False: stopped.
    virtual bool sleep_until(double time_s, const std::stop_token& stop) = 0;
};

// The machine's steady clock.
std::shared_ptr<PacingClock> steady_pacing_clock();

}  // namespace echolux
