// Which of many dB stands for an exact zero, as compressive sensing leaves it almost everywhere: some 200 dB below all
// else, it would decide every range and mean that is found automatically.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace echolux {

class EmptyValue {
  public:
    void add(double value) {
        if (!(value == value)) return;  // not a number
        ++count_;
        greatest_ = std::max(greatest_, value);
        if (value < min_) {
            next_ = min_;
            min_ = value;
            ties_ = 0;
        } else if (value > min_) {
            next_ = std::min(next_, value);
        }
        ties_ += value == min_;
    }

    // The least value, where one in a hundred has it, twice at least, and a tenth of the whole span separates it from
    // the next of several others. Noise has neither.
    std::optional<double> found() const {
        constexpr std::int64_t one_in = 100;
        constexpr double gap = 0.1;
        const bool is_shared = ties_ > 1 && ties_ >= count_ / one_in;
        const bool is_apart = next_ < greatest_ && next_ - min_ > gap * (greatest_ - min_);
        return is_shared && is_apart ? std::optional(min_) : std::nullopt;
    }

    // The least of the others, where there is one.
    double min_other() const { return next_; }

  private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    double min_ = infinity, next_ = infinity, greatest_ = -infinity;
    std::int64_t count_ = 0, ties_ = 0;
};

}  // namespace echolux
