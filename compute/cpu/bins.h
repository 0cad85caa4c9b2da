// The complex depth bins of one slow position, as they were recorded: [b_repeats][a_scans][a_repeats][depth].
#pragma once

#include <complex>
#include <cstdint>

#include "compute/steps/phasor.h"

namespace echolux::cpu {

struct PositionBins {
    const std::complex<float>* first;
    std::int64_t depth;
    const Phasor* bulk;  // [a_scans][pairs of repeats]: directions of the bulk steps; null: none are removed

    const float* line(std::int64_t i) const { return reinterpret_cast<const float*>(first + i * depth); }
};

// Bin z of a line.
inline Phasor bin(const float* line, std::int64_t z) {
    return {line[2 * z], line[2 * z + 1]};
}

}  // namespace echolux::cpu
