// Finds the heart rate in a time series of flow. The rate is the frequency whose sine and first overtone fit best by
// least squares, which does not need even time steps (N. R. Lomb, Astrophysics and Space Science 39, 1976, extended by
// one overtone).
#pragma once

#include <array>
#include <limits>
#include <string>
#include <vector>

namespace echolux {

struct HeartRate {
    double hz = std::numeric_limits<double>::quiet_NaN();
    double error_hz = std::numeric_limits<double>::quiet_NaN();  // standard error
    double chance = 1;             // probability that noise fits as well anywhere in the range
    double pulsatility = 0;        // (max - min) / mean of the flow over a beat
    std::array<double, 5> beat{};  // mean; sine and cosine; sine and cosine of the overtone
    std::string problem;           // why the rate is unknown; empty if it is known

    bool is_found() const { return problem.empty(); }
    // Returns the fitted flow at a time.
    double at(double time_s) const;
};

// Searches between `min_hz` and `max_hz`, limited to rates with at least two beats in the series and four values per
// beat. Values may be in any order; NaN and infinity are ignored.
HeartRate heart_rate_of(const std::vector<double>& times_s, const std::vector<double>& flow, double min_hz,
                        double max_hz);

}  // namespace echolux
