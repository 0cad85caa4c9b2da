// Speckle that renews as in living tissue: now and then each scatterer gets a new phase. It may do so whenever a clock
// of its own ticks, with an even chance at each tick that leaves exp(-dt / renewal_s) of the field's correlation after
// dt; which phase it has at any time follows from hashes alone.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "engine/simulate/counter_random.h"

namespace echolux {

class Renewal {
  public:
    // renewal_s 0: never.
    Renewal(double renewal_s, std::uint64_t seed)
        : tick_s_(renewal_s / ticks), chance_(1 - std::exp(-1.0 / ticks)), seed_(seed) {}

    bool is_static() const { return tick_s_ <= 0; }

    // Time is counted in steps: between two of them no phase changes.
    std::int64_t step_of(double time_s) const {
        return is_static() ? 0 : static_cast<std::int64_t>(std::floor(time_s / tick_s_ * steps));
    }

    // Of a scatterer at rest at x, y; the number of the tick behind it.
    std::int64_t tick(std::uint64_t name, std::int64_t step) const {
        const double offset = fraction(hashed(name, seed_));
        return static_cast<std::int64_t>(std::floor((static_cast<double>(step) + 0.5) / steps + offset));
    }

    // Radians, relative to the phase of the scatterer's depth.
    double phase(std::uint64_t name, std::int64_t tick) const {
        constexpr std::int64_t far = 1000;  // no change for so long has a chance of 1e-54
        std::int64_t last = tick;
        while (last > tick - far && fraction(hashed(name, seed_, static_cast<std::uint64_t>(last))) >= chance_) --last;
        return 2 * std::numbers::pi * fraction(hashed(name, static_cast<std::uint64_t>(last), seed_));
    }

  private:
    static constexpr double ticks = 8, steps = 8;  // in renewal_s, in a tick

    double tick_s_, chance_;
    std::uint64_t seed_;
};

}  // namespace echolux
