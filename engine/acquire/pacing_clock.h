// Clock for simulated and replayed sources. Tests substitute a clock that they advance themselves.
#pragma once

#include <memory>
#include <stop_token>

namespace echolux {

class PacingClock {
  public:
    virtual ~PacingClock() = default;

    virtual double now_s() = 0;  // origin is arbitrary

    // Sleeps until `time_s`; returns at once if it has passed. Returns false if stopped.
    virtual bool sleep_until(double time_s, const std::stop_token& stop) = 0;
};

// Returns a clock based on the machine's steady clock.
std::shared_ptr<PacingClock> steady_pacing_clock();

}  // namespace echolux
