// Statistics of durations: a histogram with bins of 2 %, so that percentiles need constant memory however long a
// session runs. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>

namespace echolux {

class Latency {
  public:
    void add(double seconds);

    std::int64_t count() const { return count_; }
    double max_s() const { return max_s_; }

    // Returns the duration that at least this share of all, in [0, 1], did not exceed, accurate to 2 %; 0 without data.
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
