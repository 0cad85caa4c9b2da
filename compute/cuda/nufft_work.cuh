// What the one kernel of the fast transform is given (nufft_on_chip.cuh), and its launches, each in a file of its own.
#pragma once

#include "compute/cuda/byte_codes.cuh"
#include "compute/cuda/fused_mixed.h"
#include "compute/cuda/k_points.h"
#include "compute/cuda/paired_lines.cuh"
#include "compute/cuda/transform_size.h"
#include "compute/plan/choices.h"

namespace echolux::cuda {

struct NufftWork {
    const std::int32_t* base = nullptr;
    const float2* weights = nullptr;
    const __half2* half_weights = nullptr;  // multiplied by a power of two
    float of_half_bins = 1;                 // what bins in halves are to be multiplied by
    int taps = 0;
    int repeated = 0;
    const float2* twiddles = nullptr;
    const HalfFactor* half_twiddles = nullptr;
    const float* correction = nullptr;
    const float4* factors = nullptr;

    PairedLines lines;

    int first_bin = 0;
    int depth = 0;
    float2* bins = nullptr;  // [lines][depth]; null: codes are wanted
    ByteCodes codes;
};

// Words of 16-bit samples that a thread reads of a line, where a kernel reads words: of spectra as long as the k grid,
// where the finer grid is twice as fine, each thread having 16 points of it.
constexpr int nufft_words = 8;

// Whether a block has room for the grids of two lines, before for their spectra, and for two rows of codes, and stores
// all bins that are kept: of a complex grid those of the first half, which are all where it is twice as fine.
bool nufft_fits_on_chip(std::int64_t points, bool real, std::int64_t samples_read, DepthRange kept);

void launch_nufft(const NufftWork& work, std::int64_t points, bool real, cudaStream_t stream);

// Of grids of any length that has a shape.
void launch_nufft_mixed(const NufftWork& work, const MixedShape& shape, bool real, cudaStream_t stream);

// Of lines that can be read by words.
void launch_nufft_halves(const NufftWork& work, std::int64_t points, bool real, cudaStream_t stream);

}  // namespace echolux::cuda
