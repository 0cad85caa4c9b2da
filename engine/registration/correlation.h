// Cross-correlation of B-scans. Coarse samples are correlated over all shifts of a range by Fourier transforms. Fine
// samples are correlated at single shifts by direct sums. Results of Fourier libraries differ in the last bits, whereas
// sums in a fixed order do not; therefore final values use direct sums only.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "compute/fft/fft.h"
#include "compute/steps/registration.h"

namespace echolux {

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
