// The heart's rate in a flow over time: the frequency whose sine and its first overtone fit best by least squares,
// which asks for no even steps (N. R. Lomb, Astrophysics and Space Science 39, 1976, with one overtone).
#pragma once

#include <array>
#include <limits>
#include <string>
#include <vector>

namespace echolux {

struct HeartRate {
    double hz = std::numeric_limits<double>::quiet_NaN();
    double error_hz = std::numeric_limits<double>::quiet_NaN();  // standard error
    double chance = 1;             // that noise alone would fit as well somewhere in the range
    double pulsatility = 0;        // maximum less minimum flow of a beat, over its mean
    std::array<double, 5> beat{};  // mean, sine and cosine, sine and cosine of the overtone
    std::string problem;           // why there is no rate; empty: there is one

    bool is_found() const { return problem.empty(); }
    double at(double time_s) const;
};

// Between `min_hz` and `max_hz`, and so that there are at least two beats, and four values a beat. In any order; values
// that are no numbers are left out.
HeartRate heart_rate_of(const std::vector<double>& times_s, const std::vector<double>& flow, double min_hz,
                        double max_hz);

}  // namespace echolux
