// How fast a variant of the ray caster is on this device, from pictures that it has finished, and so how much of one
// fits into a time. Before the first is finished a slow device is assumed.
#pragma once

#include <algorithm>
#include <optional>

namespace echolux {

class Pace {
  public:
    // `work`: rays times the most samples that one may take.
    double seconds(double work) const { return work * seconds_per_sample_; }
    bool is_known() const { return known_; }

    // `kept`: the part of what was known that stays where less was taken. Paths through one part of a picture say
    // little of those through the next.
    void learn(double work, std::optional<double> seconds, double kept) {
        if (!seconds || !(work > 0)) return;
        last_ = std::max(*seconds / work, min_seconds);
        seconds_per_sample_ = std::max(last_, kept * seconds_per_sample_);
        known_ = true;
    }

    // What comes may take so many times as long as what was finished last. Doubts do not add up: a view that turns all
    // the time would soon be cast row by row.
    void doubt(double factor) { seconds_per_sample_ = std::max(seconds_per_sample_, std::min(factor * last_, slow)); }

  private:
    static constexpr double min_seconds = 1e-15;
    static constexpr double slow = 1e-8;  // of software Vulkan on one core

    double seconds_per_sample_ = slow;
    double last_ = slow;
    bool known_ = false;
};

}  // namespace echolux
