// Time series of velocity volumes and of flow: mean velocity and noise, heart rate, and the line fits that these and
// the course of a vessel use.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "engine/io/volume_file.h"

namespace echolux {

// ---- Fits a straight or quadratic line that is robust to a few outliers.

struct LineFit {
    std::array<double, 3> by_power{};  // a + b s + c s^2; c is 0 unless it is significant
    double slope_error = 0;            // standard error of the slope at s = 0
    bool is_known = false;             // false with fewer than three values
};

// `correlated` is the number of neighbouring values that share their noise.
LineFit fitted_line(const std::vector<double>& s, const std::vector<double>& values, double correlated);

// Weighted least squares by the normal equations: finds the combination of `columns` closest to `values`. Variances are
// the noise variance times variance_factors, the diagonal of the inverse. The result is empty if the columns are
// linearly dependent.
struct Coefficients {
    std::vector<double> values, variance_factors;
    double residual = 0;  // weighted sum of squares
};
Coefficients least_squares(const std::vector<std::vector<double>>& columns, const std::vector<double>& values,
                           const std::vector<double>& weights);

// Sets the weights to 0 for residuals more than 4 standard deviations off, estimated from the median absolute
// deviation, and the others to 1.
void leave_out_outliers(const std::vector<double>& left, std::vector<double>& weights);

// ---- Mean velocity and noise of a series of velocity volumes.

// Returns velocities in mm/s for any voxel type; 0 where unknown. Throws Error{bad_setting} if the volume does not
// contain velocities.
std::vector<float> axial_velocities(const Volume& volume);

// Throws Error{bad_setting} if the volume has no velocities, no spacings or fewer than three B-scans.
void require_velocities(const VolumeGrid& grid);

struct MeanVelocity {
    // Means over time and 3 x 3 x 3 voxels, between -v_max and v_max; 0 if fewer than half of these voxels are known.
    std::vector<float> mm_s;
    double noise_mm_s = 0;   // standard deviation of mm_s
    double single_mm_s = 0;  // standard deviation of a voxel of one volume
};

// Averages volumes of the same size. Velocities wrap around at v_max, so they are averaged as phasors.
class VelocitySum {
  public:
    explicit VelocitySum(const VolumeGrid& grid);

    // Adds the velocities of one volume in mm/s, 0 where unknown.
    void add(const std::vector<float>& velocities);
    // Returns the mean of all volumes added until now.
    MeanVelocity mean() const;

  private:
    VolumeGrid grid_;
    double v_max_ = 0;
    std::vector<float> real_, imaginary_;  // sum of phasors
    std::vector<double> single_;           // noise of each volume
};

// Returns the largest velocity that does not wrap around, in mm/s; 0: unknown.
double v_max_of(const VolumeGrid& grid);

// ---- Finds the heart rate in a time series of flow. The rate is the frequency whose sine and first overtone fit best
// by least squares, which does not need even time steps (N. R. Lomb, Astrophysics and Space Science 39, 1976, extended
// by one overtone).

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
// beat; unknown if a slower rate fits much better. Values may be in any order; NaN and infinity are ignored.
HeartRate heart_rate_of(const std::vector<double>& times_s, const std::vector<double>& flow, double min_hz,
                        double max_hz);

}  // namespace echolux
