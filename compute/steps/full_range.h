// Steps of one iteration of dispersion-encoded full range (docs/algorithms.md 8), for a single bin or point.
#pragma once

#include <cstdint>

#include "compute/host_device.h"

namespace echolux {

// Returns the power of a bin. The fused multiply-add is explicit so that the search for the strongest bin and the later
// comparison with it see the same bits.
template <class Real>
ECHOLUX_HD Real power_of_bin(Real re, Real im) {
#ifdef __CUDA_ARCH__
    return fma(re, re, im * im);
#else
    return re * re + im * im;
#endif
}

// Returns whether a bin of the given power belongs to a peak, relative to the power of the strongest bin.
template <class Real>
struct PeakDetector {
    Real least;  // threshold^2 * strongest

    ECHOLUX_HD PeakDetector(Real threshold, Real strongest) : least(threshold * threshold * strongest) {}
    ECHOLUX_HD bool operator()(Real power) const { return power >= least; }
};

// Returns the contribution of peaks to a real spectrum, including both images of each peak: 2 Re(peaks * exp(i theta)),
// where `peaks` is their inverse transform.
template <class Real>
ECHOLUX_HD Real shown_by(Real peaks_re, Real peaks_im, Real rotation_re, Real rotation_im) {
    return 2 * (peaks_re * rotation_re - peaks_im * rotation_im);
}

// Returns the transform index of output bin z. Output bins are counted from the far end of negative delays, and the
// transform has n points.
ECHOLUX_HD inline std::int64_t bin_of_transform(std::int64_t z, std::int64_t n) {
    const std::int64_t shifted = z - n / 2;
    return shifted < 0 ? shifted + n : shifted;
}

}  // namespace echolux
