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

    void learn(double work, std::optional<double> seconds) {
        if (!seconds || !(work > 0)) return;
        seconds_per_sample_ = std::max(*seconds / work, least);
        known_ = true;
    }

  private:
    static constexpr double least = 1e-15;

    double seconds_per_sample_ = 1e-8;  // of software Vulkan on one core
    bool known_ = false;
};

}  // namespace echolux
