// Finds the dB value that represents exact zeros, which compressive sensing leaves almost everywhere. It is some 200 dB
// below all other values and would dominate every automatic range and mean.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace echolux {

// Collects values one by one without storing them.
class EmptyValue {
  public:
    void add(double value) {
        if (!(value == value)) return;  // NaN
        ++count_;
        max_ = std::max(max_, value);
        if (value < min_) {
            next_ = min_;
            min_ = value;
            ties_ = 0;
        } else if (value > min_) {
            next_ = std::min(next_, value);
        }
        ties_ += value == min_;
    }

    // Returns the min value if at least two values and 1 % of all share it, and at least a tenth of the whole span
    // separates it from the next of several other values. Noise satisfies neither condition.
    std::optional<double> found() const {
        constexpr std::int64_t one_in = 100;
        constexpr double gap = 0.1;
        const bool is_shared = ties_ > 1 && ties_ >= count_ / one_in;
        const bool is_apart = next_ < max_ && next_ - min_ > gap * (max_ - min_);
        return is_shared && is_apart ? std::optional(min_) : std::nullopt;
    }

    // Returns the min of the other values, or infinity if there are none.
    double min_other() const { return next_; }

  private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    double min_ = infinity, next_ = infinity, max_ = -infinity;
    std::int64_t count_ = 0, ties_ = 0;
};

}  // namespace echolux
