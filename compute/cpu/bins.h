// Complex depth bins of one slow-axis position as recorded: [b_repeats][a_scans][a_repeats][depth].
#pragma once

#include <complex>
#include <cstdint>

#include "compute/steps/angiography.h"
#include "compute/steps/depth.h"

namespace echolux::cpu {

// Non-owning view of the bins of one position.
struct PositionBins {
    const std::complex<float>* first;
    std::int64_t depth;
    Repeats repeats;           // repeats to compare
    const Phasor* bulk;        // [a_scans][bulk_stride], directions of the bulk steps; null: none are removed
    std::int64_t bulk_stride;  // max pairs of repeats

    const float* line(std::int64_t i) const { return reinterpret_cast<const float*>(first + i * depth); }
};

// Returns bin z of a line.
inline Phasor bin(const float* line, std::int64_t z) {
    return {line[2 * z], line[2 * z + 1]};
}

}  // namespace echolux::cpu
