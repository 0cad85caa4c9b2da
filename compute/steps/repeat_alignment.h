// How repeats of a B-scan are laid over one another before they are compared (docs/angiography.md): fractions of a
// sample by interpolation around a carrier, coherence that does not see bulk motion, and the phase of that motion.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "compute/host_device.h"
#include "compute/steps/flow.h"
#include "compute/steps/phasor.h"

namespace echolux {

// Weights that make the sample `by` samples on: a sinc under a Hann window, good to 1 % up to a third of a cycle a
// sample around the carrier, by whose `turns` the signal falls back from sample to sample (depth bins of a spectrum:
// half a turn).
struct ShiftTaps {
    static constexpr int count = 12;
    std::int64_t first = 0;  // sample of the first weight, from the sample that is made
    Phasor tap[count];

    ECHOLUX_HD ShiftTaps(double by, double turns) : first(static_cast<std::int64_t>(std::floor(by)) - count / 2 + 1) {
        constexpr double pi = std::numbers::pi;
        for (int n = 0; n < count; ++n) {
            const double t = by - static_cast<double>(first + n);
            const double sinc = t == 0 ? 1 : std::sin(pi * t) / (pi * t);
            const double hann = std::cos(pi * t / count);
            const double weight = sinc * hann * hann;
            tap[n] = {static_cast<float>(weight * std::cos(2 * pi * turns * t)),
                      static_cast<float>(-weight * std::sin(2 * pi * turns * t))};
        }
    }
};

// Adds tap times value.
ECHOLUX_HD inline void add_product(Phasor& sum, Phasor tap, Phasor value) {
    sum.re += tap.re * value.re - tap.im * value.im;
    sum.im += tap.re * value.im + tap.im * value.re;
}

// Sums over the depth bins of two A-scans, where the reference has tissue. The modulus of the product is blind to what
// turns an A-scan as a whole, so coherences of A-scans may be added whatever their bulk motion.
struct CoherenceSum {
    Phasor product;
    float reference = 0, other = 0;  // powers

    ECHOLUX_HD void add(Phasor of_reference, Phasor of_other) {
        const Phasor step = phase_difference(of_other, of_reference);
        product.re += step.re;
        product.im += step.im;
        reference += power_of(of_reference);
        other += power_of(of_other);
    }
};

// What one bin adds to the bulk phase of an A-scan, given the estimate of the pass before, {0, 0} in the first: tissue
// that turns otherwise than the estimate flows, and is left out.
struct RepeatPhaseShare {
    static constexpr int passes = 3;
    static constexpr float cosine_of_max = 0.69670671f;  // 0.8 rad
    float min_power = 0;

    ECHOLUX_HD Phasor operator()(Phasor reference, Phasor other, Phasor estimate) const {
        if (!(power_of(reference) >= min_power)) return {};
        const Phasor step = phase_difference(other, reference);
        const bool first = estimate.re == 0 && estimate.im == 0;
        const float along = phase_difference(step, estimate).re;
        return first || along >= cosine_of_max * std::sqrt(power_of(step)) ? step : Phasor{};
    }
};

}  // namespace echolux
