// Measured speed of a variant of the ray caster, for predicting the time of a picture. Assumes a slow device until the
// first picture has finished.
#pragma once

#include <algorithm>
#include <optional>

namespace echolux {

class Pace {
  public:
    // `work` is the number of rays times the max number of samples per ray.
    double seconds(double work) const { return work * seconds_per_sample_; }
    bool is_known() const { return known_; }

    // Records a measurement. If it was faster than the estimate, the estimate keeps the fraction `kept`: paths in one
    // part of a picture predict little about the next part.
    void learn(double work, std::optional<double> seconds, double kept) {
        if (!seconds || !(work > 0)) return;
        last_ = std::max(*seconds / work, min_seconds);
        seconds_per_sample_ = std::max(last_, kept * seconds_per_sample_);
        known_ = true;
    }

    // Prepares for pictures that may take up to `factor` times as long as the last one. Repeated doubts do not
    // multiply, or a continuously turning view would end up being cast row by row.
    void doubt(double factor) { seconds_per_sample_ = std::max(seconds_per_sample_, std::min(factor * last_, slow)); }

  private:
    static constexpr double min_seconds = 1e-15;
    static constexpr double slow = 1e-8;  // software Vulkan on one core

    double seconds_per_sample_ = slow;
    double last_ = slow;
    bool known_ = false;
};

}  // namespace echolux
