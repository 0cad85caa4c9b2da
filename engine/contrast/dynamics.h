// Dynamic OCT: how the light of each voxel fluctuates over moments at even steps, B-scan by B-scan.
//
// With x(t) in dB, N moments of step dt:
//   LIV        sum of (x - mean)^2 / (N - 1), in dB^2 (I. A. El-Sadek et al., Biomed. Opt. Express 11(11), 2020, who
//              divide by N). The logarithm of one exponentially distributed intensity has the variance pi^2/6, so
//              speckle that is new at each moment has (10/ln 10)^2 pi^2/6 = 31.03 dB^2 at any brightness.
//   aLIV, swiftness   LIV of all windows of m consecutive moments, which last T = (m - 1) dt, averaged for each of up
//              to 16 sizes m, grows as A (1 - exp(-S T)): aLIV is A in dB^2, swiftness is S in 1/s (R. Morishita et
//              al., Biomed. Opt. Express 14(5), 2023). Dividing by m - 1 makes the variance of the window unbiased, so
//              that uncorrelated noise has no slope.
//   OCDS       minus the slope of the autocorrelation of x over a range of delays, in 1/s (El-Sadek et al., as above,
//              and 12(11), 2021).
// With the amplitude a(t) and its one-sided periodogram P(f) without the mean:
//   mean frequency sum f P / sum P, and bandwidth, the standard deviation of f under P (M. Muenter et al., Opt. Lett.
//              45(17), 2020, and Biomed. Opt. Express 12(10), 2021; H. M. Leung et al., Biomed. Opt. Express 11(5),
//              2020)
//   low, mid, high    the power of P in three bands, as dB of the volume, for red, green and blue
// All but LIV pool these sums over a window of voxels, not their ratios: means of ratios would be biased.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/described.h"
#include "engine/io/volume_file.h"

namespace echolux {

// Section [dynamics] of the settings; described in dynamics.cpp.
struct DynamicsRecipe {
    std::int64_t window_depth = 3;
    std::int64_t window_a_scans = 3;
    double threshold_db = -300;
    double delay_from_s = 0;  // 0: one step
    double delay_to_s = 0;    // 0: a quarter of the series
    std::vector<double> bands_hz;

    bool operator==(const DynamicsRecipe&) const = default;
};

template <>
const std::vector<Field<DynamicsRecipe>>& describe<DynamicsRecipe>();

enum class DynamicsMap { liv, aliv, swiftness, ocds, mean_frequency, bandwidth, low, mid, high };
inline constexpr std::size_t dynamics_map_count = 9;

struct DynamicsMapText {
    const char *name, *unit, *help;
};
const DynamicsMapText& text_of(DynamicsMap map);

// Means over all voxels with values.
struct DynamicsCurves {
    std::vector<double> window_s, liv_db2;       // LIV of windows of this duration
    std::vector<double> delay_s, correlation;    // normalized autocorrelation of dB
    std::vector<double> frequency_hz, power_db;  // periodogram of the amplitude
};

// Fits amplitude (1 - exp(-rate t)) by least squares. The best amplitude of each rate is known in closed form, so only
// the rate is searched for, in a table of even ratios and by a parabola through the best three.
struct Saturation {
    double amplitude, rate;
};
class SaturationFit {
  public:
    SaturationFit() = default;
    // `times` ascend from above 0.
    explicit SaturationFit(std::vector<double> times);

    const std::vector<double>& times() const { return times_; }

    // NaN: cannot be found, because the values have saturated at the first time (rate) or do not bend by the last one
    // (both).
    Saturation operator()(const std::vector<double>& values) const;

  private:
    // 1 - exp(-rate t) at all times, and the share of the values' squares that its best multiple explains.
    std::vector<double> curve(double rate) const;
    static double explained(const std::vector<double>& curve, const std::vector<double>& values);

    std::vector<double> times_;
    double slowest_ = 0, ratio_ = 0;  // logarithms of the lowest rate and of the ratio of neighbours
    std::vector<std::vector<double>> curves_;
};

class Dynamics {
  public:
    static constexpr std::int64_t min_moments = 8;

    // Throws Error{bad_setting} for fewer moments, and for delays or bands that hold none of the series.
    Dynamics(std::int64_t moments, double step_s, const DynamicsRecipe& recipe);

    // Maps of one B-scan, each [a_scan][depth]; NaN below the threshold, where a moment is missing, and where a value
    // cannot be found, as the swiftness of fluctuations that are new at each moment. `power` is linear intensity,
    // [moment][a_scan][depth]. The result does not depend on the number of threads.
    std::array<std::vector<float>, dynamics_map_count> add(const std::vector<std::vector<float>>& power,
                                                           std::int64_t a_scans, std::int64_t depth);

    // Means over all B-scans until now.
    DynamicsCurves curves() const;

    // Four edges of the three bands.
    const std::vector<double>& bands_hz() const { return bands_; }

  private:
    // Sums of each voxel, [voxel], in this order: LIV by window, then these.
    enum Sum { covariance_slope, variance, power_sum, power_f, power_f2, band_low, band_mid, band_high, sum_count };
    struct Line;  // sums over the A-scans of one thread, and buffers

    void find_windows();
    void find_delays(const DynamicsRecipe& recipe);
    void find_bands(const DynamicsRecipe& recipe);
    std::size_t sums() const { return sizes_.size() + sum_count; }
    void measure(const std::vector<std::vector<float>>& power, std::size_t voxel, Line& line,
                 std::vector<std::vector<float>>& values) const;
    void measure_decibels(Line& line, std::size_t voxel, std::vector<std::vector<float>>& values) const;
    void measure_spectrum(Line& line, std::size_t voxel, std::vector<std::vector<float>>& values) const;
    void pool(std::vector<float>& values, const std::vector<float>& known, std::int64_t a_scans,
              std::int64_t depth) const;
    void finish(std::size_t voxel, const std::vector<std::vector<float>>& pooled,
                std::array<std::vector<float>, dynamics_map_count>& maps) const;

    std::int64_t moments_;
    double step_s_;
    std::int64_t window_depth_, window_a_scans_;
    double threshold_;                      // linear power
    std::vector<std::int64_t> sizes_;       // windows in moments
    SaturationFit saturation_;              // over the durations of the windows
    std::vector<double> delay_weights_;     // of the covariances of delays 0, 1 ...: their sum is minus the slope
    std::vector<double> bands_;             // four edges in Hz
    std::vector<double> liv_, covariance_;  // sums over voxels
    std::vector<double> spectrum_;
    std::int64_t voxels_ = 0;
};

}  // namespace echolux
