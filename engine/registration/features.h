// Features of B-scans on the CPU, and their correlations.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "compute/fft/fft.h"
#include "compute/steps/registration.h"
#include "engine/registration/registration.h"

namespace echolux {

// Parameters and tables of RowFeatures that are shared by all processors.

inline constexpr std::int64_t coarse_times = 4;  // fine samples per coarse sample, in depth and A-scans
inline constexpr int slow_means = 3;             // number of running means that approximate the Gaussian of the
                                                 // high-pass filter

// Returns the weights that smooth power in depth and along A-scans, centred on the sample.
std::vector<float> smoothing_weights();

// Returns the half width of the running mean, in samples.
std::int64_t slow_mean_half();

// Every `step`-th item, `count` of them.
struct Samples {
    std::int64_t count, step;
};

// Returns the voxels that are sampled to estimate a volume's brightness.
Samples samples_of(std::int64_t voxels);

// Returns the logarithm's floor from sampled power. Throws Error{bad_setting} if no sample is positive.
LogFeature log_feature(std::vector<float> samples);

// Returns the A-scans that are sampled to find the band of tissue; band_of_lines() finds the band, extended by
// `margin`.
Samples lines_of_band(const VolumeGrid& grid);
Interval band_of_lines(const std::vector<float>& lines, std::int64_t depth, std::int64_t margin);

// Sets the norms of B-scans without signal to 0.
void silence(std::vector<float>& norms);

// Cross-correlation of B-scans. Coarse samples are correlated over all shifts of a range by Fourier transforms. Fine
// samples are correlated at single shifts by direct sums. Results of Fourier libraries differ in the last bits, whereas
// sums in a fixed order do not; therefore final values use direct sums only.

// Fourier transforms of planes [a_scan][depth], zero-padded by the range of shifts. Use an object from one thread at a
// time.
class PlaneTransform {
  public:
    using Spectrum = std::vector<std::complex<float>>;  // [depth frequency][lateral frequency]

    PlaneTransform(std::int64_t depth, std::int64_t a_scans, std::int64_t max_z, std::int64_t max_x);

    // Returns the spectrum of a plane.
    Spectrum forward(const float* plane);

    // Writes the cross-correlation, the inverse transform of a conj(b), to shift_map().cells() values of `map`.
    void correlate(const Spectrum& a, const Spectrum& b, float* map);

    // Layout of the maps that correlate() writes.
    ShiftMap shift_map() const { return {static_cast<std::int32_t>(max_z_), static_cast<std::int32_t>(max_x_)}; }

  private:
    std::int64_t depth_, a_scans_, max_z_, max_x_;
    std::int64_t long_z_, long_x_, bins_z_;
    Fft z_forward_, z_inverse_, x_forward_, x_inverse_;
    std::vector<std::complex<float>> columns_;  // [shift or A-scan][depth frequency]
    Spectrum cross_;
};

// Returns the peak of a map and the second one apart from it. `at` returns the correlation of a cell.
template <class At>
CoarsePeak peak_of(const ShiftMap& map, const At& at) {
    float value = -1, second = -1;
    std::int32_t best = 0;
    for (std::int32_t cell = 0; cell < map.cells(); ++cell) {
        if (at(cell) <= value) continue;
        value = at(cell);
        best = cell;
    }
    for (std::int32_t cell = 0; cell < map.cells(); ++cell) {
        if (at(cell) > second && map.is_apart(cell, best)) second = at(cell);
    }
    return map.peak(at, best, value, second);
}

// Returns the sum of a(r + s) b(r) over all r inside both planes. Uses a fixed set of partial sums, so that the result
// does not depend on the machine.
float overlap_product(const float* a, const float* b, std::int64_t depth, std::int64_t a_scans, std::int64_t shift_z,
                      std::int64_t shift_x);

}  // namespace echolux
