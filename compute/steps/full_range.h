// The steps of an iteration of dispersion-encoded full range (docs/transforms.md 8), one bin or point at a time.
#pragma once

#include <cstdint>

#include "compute/host_device.h"

namespace echolux {

// Spelled out, so that a bin has the same bits where the strongest is looked for and where it is compared with it.
template <class Real>
ECHOLUX_HD Real power_of_bin(Real re, Real im) {
#ifdef __CUDA_ARCH__
    return fma(re, re, im * im);
#else
    return re * re + im * im;
#endif
}

// Whether a bin of power `power` belongs to a peak, where the strongest has `strongest`.
template <class Real>
struct PeakDetector {
    Real least;  // threshold^2 * strongest

    ECHOLUX_HD PeakDetector(Real threshold, Real strongest) : least(threshold * threshold * strongest) {}
    ECHOLUX_HD bool operator()(Real power) const { return power >= least; }
};

// What peaks add to a real spectrum, both images of each: 2 Re(peaks * exp(i theta)), their transform back being
// `peaks`.
template <class Real>
ECHOLUX_HD Real shown_by(Real peaks_re, Real peaks_im, Real rotation_re, Real rotation_im) {
    return 2 * (peaks_re * rotation_re - peaks_im * rotation_im);
}

// Where bin z of the output, counted from the far end before zero delay, lies in a transform of n points.
ECHOLUX_HD inline std::int64_t bin_of_transform(std::int64_t z, std::int64_t n) {
    const std::int64_t shifted = z - n / 2;
    return shifted < 0 ? shifted + n : shifted;
}

}  // namespace echolux
