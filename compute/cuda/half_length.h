// A real line of 2 n points goes through a complex transform of n: even points are the real parts, odd ones the
// imaginary parts. With Z the result, whatever is linear in the line's spectrum is
//     own[k] Z[k] + mirrored[k] conj(Z[(n - k) mod n]),
// and here are the factors, made in double: for bins of the spectrum itself, and for the line shifted by a part of a
// sample, which is up-sampling.
#pragma once

#include <vector_types.h>

#include <cstdint>
#include <vector>

namespace echolux::cuda {

// (own, mirrored) for bins first, first + 1, ..., each times its factor.
std::vector<float4> spectrum_factors(std::int64_t n, std::int64_t first, const std::vector<float>& times);

// [n] for each phase 1 ... upsample - 1: what a backward transform of n points, not normalised, turns into the line
// phase / upsample of a sample later, again even points as real parts. The Nyquist bin is shared by both halves
// (docs/algorithms.md 2.5).
std::vector<float4> shift_factors(std::int64_t n, std::int64_t upsample);

}  // namespace echolux::cuda
