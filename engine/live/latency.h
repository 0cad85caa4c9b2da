// How long something took, over any number of times: a histogram with bins of 2 %, so that percentiles cost no memory
// however long a session runs.
#pragma once

#include <array>
#include <cstdint>

namespace echolux {

class Latency {
  public:
    void add(double seconds);

    std::int64_t count() const { return count_; }
    double max_s() const { return max_s_; }

    // Not less than this share of all, in [0, 1], took at most so long, to 2 %; 0 where there are none.
    double percentile_s(double share) const;

  private:
    static constexpr double min_s = 1e-6;
    static constexpr double ratio = 1.02;
    static constexpr std::size_t bins = 1100;  // up to 2900 s

    std::array<std::int64_t, bins> counts_{};
    std::int64_t count_ = 0;
    double max_s_ = 0;
};

}  // namespace echolux
