// Transforms a real line of 2 n points with a complex transform of n points: even points are the real parts, odd points
// the imaginary parts. With Z the result, anything linear in the line's spectrum is
//     own[k] Z[k] + mirrored[k] conj(Z[(n - k) mod n]).
// This file computes the factors in double precision: for bins of the spectrum itself, and for the line shifted by a
// fraction of a sample, which is used for up-sampling.
#pragma once

#include <vector_types.h>

#include <cstdint>
#include <vector>

namespace echolux::cuda {

// Returns (own, mirrored) for bins first, first + 1, ..., each multiplied by its factor in `times`.
std::vector<float4> spectrum_factors(std::int64_t n, std::int64_t first, const std::vector<float>& times);

// Returns [n] factors for each phase 1 ... upsample - 1. An unnormalized inverse transform of n points then yields the
// line shifted by phase / upsample samples, again with even points as real parts. The Nyquist bin is split between both
// halves (docs/algorithms.md 2.5).
std::vector<float4> shift_factors(std::int64_t n, std::int64_t upsample);

}  // namespace echolux::cuda
