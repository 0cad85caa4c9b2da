// A complex number for host and device code, with the few operations that flow needs.
#pragma once

#include <cmath>

#include "compute/host_device.h"
#include "compute/steps/depth.h"

namespace echolux {

// Complex number with float parts.
struct Phasor {
    float re = 0;
    float im = 0;
};

// Returns |a|^2.
ECHOLUX_HD inline float power_of(Phasor a) {
    return Power{}(a.re, a.im);
}

// Returns a conj(b), whose phase is that of a minus that of b.
ECHOLUX_HD inline Phasor phase_difference(Phasor a, Phasor b) {
    return {multiply_add(a.re, b.re, a.im * b.im), multiply_add(a.im, b.re, -(a.re * b.im))};
}

// Returns 1 / |a|. For zero it returns a finite number, so that the product with zero is zero. The GPU uses its special
// function unit. Both backends are accurate to two units in the last place.
ECHOLUX_HD inline float inverse_length(Phasor a) {
    const float power = power_of(a);
#ifdef __CUDA_ARCH__
    constexpr float min_normal = 1.17549435e-38f;
    float inverse;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(power > min_normal ? power : min_normal));
    return inverse;
#else
    return power > 0 ? 1 / std::sqrt(power) : 0.0f;
#endif
}

// Returns a scaled to length 1. Zero stays zero.
ECHOLUX_HD inline Phasor direction_of(Phasor a) {
    const float share = inverse_length(a);
    return {a.re * share, a.im * share};
}

}  // namespace echolux
