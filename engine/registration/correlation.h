// Cross-correlation of B-scans: over all shifts of a range by Fourier transform, on coarse samples, and at single
// shifts by direct sums, on fine ones. Transforms of different libraries differ in the last bits; sums in a fixed order
// do not, so what is read off finely comes from these alone.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "compute/fft/fft.h"

namespace echolux {

// The largest of a map of correlations, `second` being the largest at least two samples away.
struct CoarsePeak {
    float value = -1, second = -1;
    double z = 0, x = 0;  // shift, finer than samples
    bool is_at_border = false;
};

// Transforms of planes [a_scan][depth], zero-padded by the range of shifts. One thread at a time.
class PlaneTransform {
  public:
    using Spectrum = std::vector<std::complex<float>>;  // [depth frequency][lateral frequency]

    PlaneTransform(std::int64_t depth, std::int64_t a_scans, std::int64_t max_z, std::int64_t max_x);

    Spectrum forward(const float* plane);

    // Of the correlation that `cross` is the transform of.
    CoarsePeak peak(const Spectrum& cross);

  private:
    CoarsePeak peak_of_map() const;
    float at(std::int64_t x, std::int64_t z) const {
        return map_[static_cast<std::size_t>((x + max_x_) * (2 * max_z_ + 1) + z + max_z_)];
    }

    std::int64_t depth_, a_scans_, max_z_, max_x_;
    std::int64_t long_z_, long_x_, bins_z_;
    Fft z_forward_, z_inverse_, x_forward_, x_inverse_;
    std::vector<std::complex<float>> columns_;  // [shift or A-scan][depth frequency]
    std::vector<float> map_;                    // [shift in x][shift in z]
};

// a(r + s) b(r), summed over all r inside of both planes; eight partial sums, so that the order is fixed.
float overlap_product(const float* a, const float* b, std::int64_t depth, std::int64_t a_scans, std::int64_t shift_z,
                      std::int64_t shift_x);

}  // namespace echolux
