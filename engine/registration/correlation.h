// Cross-correlation of B-scans: over all shifts of a range by Fourier transform, on coarse samples, and at single
// shifts by direct sums, on fine ones. Transforms of different libraries differ in the last bits; sums in a fixed order
// do not, so what is read off finely comes from these alone.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "compute/fft/fft.h"
#include "compute/steps/registration.h"

namespace echolux {

// Transforms of planes [a_scan][depth], zero-padded by the range of shifts. One thread at a time.
class PlaneTransform {
  public:
    using Spectrum = std::vector<std::complex<float>>;  // [depth frequency][lateral frequency]

    PlaneTransform(std::int64_t depth, std::int64_t a_scans, std::int64_t max_z, std::int64_t max_x);

    Spectrum forward(const float* plane);

    // The correlation that a conj(b) is the transform of: shift_map().cells() of them.
    void correlate(const Spectrum& a, const Spectrum& b, float* map);

    ShiftMap shift_map() const { return {static_cast<std::int32_t>(max_z_), static_cast<std::int32_t>(max_x_)}; }

  private:
    std::int64_t depth_, a_scans_, max_z_, max_x_;
    std::int64_t long_z_, long_x_, bins_z_;
    Fft z_forward_, z_inverse_, x_forward_, x_inverse_;
    std::vector<std::complex<float>> columns_;  // [shift or A-scan][depth frequency]
    Spectrum cross_;
};

// The peak of a map, `at` giving the correlation of a cell.
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

// a(r + s) b(r), summed over all r inside of both planes; eight partial sums, so that the order is fixed.
float overlap_product(const float* a, const float* b, std::int64_t depth, std::int64_t a_scans, std::int64_t shift_z,
                      std::int64_t shift_x);

}  // namespace echolux
