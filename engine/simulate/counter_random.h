// Counter-based random numbers. Scatterers and noise samples have keys, and the value is a hash of the key. Results
// therefore do not depend on the order of work or the number of threads. The hash is the finalizer of splitmix64
// (Steele, Lea, Flood, OOPSLA 2014).
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace echolux {

inline std::uint64_t hashed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

// Returns the hash of several numbers, most general first.
template <class... Rest>
std::uint64_t hashed(std::uint64_t x, std::uint64_t y, Rest... rest) {
    return hashed(hashed(x) ^ y, static_cast<std::uint64_t>(rest)...);
}

// Returns a number in [0, 1) from the upper 53 bits.
inline double fraction(std::uint64_t bits) {
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

// Return numbers in [0, 1) from the lower and the upper half of the bits.
inline double low_fraction(std::uint64_t bits) {
    return static_cast<double>(bits & 0xffffffffU) * 0x1p-32;
}
inline double high_fraction(std::uint64_t bits) {
    return static_cast<double>(bits >> 32) * 0x1p-32;
}

// ---- Speckle renewal as in living tissue: each scatterer gets a new phase from time to time. A scatterer has its own
// clock. At each tick, its phase changes with a fixed probability, such that the field's correlation decays as exp(-dt
// / renewal_s). The phase at any time follows from hashes alone.

// Phases of scatterers over time.
class Renewal {
  public:
    // `renewal_s` 0: phases never change.
    Renewal(double renewal_s, std::uint64_t seed)
        : tick_s_(renewal_s / ticks), chance_(1 - std::exp(-1.0 / ticks)), seed_(seed) {}

    bool is_static() const { return tick_s_ <= 0; }

    // Returns the index of a time step; no phase changes within a step.
    std::int64_t step_of(double time_s) const {
        return is_static() ? 0 : static_cast<std::int64_t>(std::floor(time_s / tick_s_ * steps));
    }

    // Returns the last tick of the scatterer `name` before or at `step`.
    std::int64_t tick(std::uint64_t name, std::int64_t step) const {
        const double offset = fraction(hashed(name, seed_));
        return static_cast<std::int64_t>(std::floor((static_cast<double>(step) + 0.5) / steps + offset));
    }

    // Returns the phase in radians, relative to that of the scatterer's depth.
    double phase(std::uint64_t name, std::int64_t tick) const {
        constexpr std::int64_t far = 1000;  // the probability of no change over this many ticks is 1e-54
        std::int64_t last = tick;
        while (last > tick - far && fraction(hashed(name, seed_, static_cast<std::uint64_t>(last))) >= chance_) --last;
        return 2 * std::numbers::pi * fraction(hashed(name, static_cast<std::uint64_t>(last), seed_));
    }

  private:
    static constexpr double ticks = 8, steps = 8;  // ticks per renewal_s, steps per tick

    double tick_s_, chance_;
    std::uint64_t seed_;
};

}  // namespace echolux
