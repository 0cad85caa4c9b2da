// Arguments of the single NUFFT kernel (nufft_on_chip.cuh), and its launches, each in its own file.
#pragma once

#include "compute/cuda/byte_codes.cuh"
#include "compute/cuda/fused_mixed.h"
#include "compute/cuda/k_points.h"
#include "compute/cuda/paired_lines.cuh"
#include "compute/cuda/transform_size.h"
#include "compute/plan/choices.h"

namespace echolux::cuda {

// Arguments of the kernel. Passed by value as a grid constant.
struct NufftWork {
    const std::int32_t* base = nullptr;
    const float2* weights = nullptr;
    const __half2* half_weights = nullptr;  // scaled by a power of two
    float of_half_bins = 1;                 // factor that undoes the scale of half bins
    int taps = 0;
    int repeated = 0;
    const float2* twiddles = nullptr;
    const HalfFactor* half_twiddles = nullptr;
    const float* correction = nullptr;
    const float4* factors = nullptr;

    PairedLines lines;

    int first_bin = 0;
    int depth = 0;
    float2* bins = nullptr;  // [lines][depth]; null: the output is codes
    ByteCodes codes;
};

// Words of 16-bit samples per thread and line, for kernels that read words. Applies to spectra as long as the k grid
// with a finer grid of twice that length, of which each thread holds 16 points.
constexpr int nufft_words = 8;

// Returns whether the grids of two lines (and before that their spectra) and two rows of codes fit on chip, and whether
// all kept bins are stored: of a complex grid those of the first half, which are all bins with two-fold oversampling.
bool nufft_fits_on_chip(std::int64_t points, bool real, std::int64_t samples_read, DepthRange kept);

void launch_nufft(const NufftWork& work, std::int64_t points, bool real, cudaStream_t stream);

// For grids of any length with a shape.
void launch_nufft_mixed(const NufftWork& work, const MixedShape& shape, bool real, cudaStream_t stream);

// For lines that can be read by words.
void launch_nufft_halves(const NufftWork& work, std::int64_t points, bool real, cudaStream_t stream);

}  // namespace echolux::cuda
