// The single NUFFT kernel in floats, in half precision, and for grids whose points are a product of small numbers.
#include "compute/cuda/line_pairs.h"
#include "compute/cuda/nufft_on_chip.cuh"
#include "compute/cuda/transform.cuh"
#include "compute/indexing.h"

namespace echolux::cuda {

void launch_nufft(const NufftWork& work, std::int64_t points, bool real, cudaStream_t stream) {
    const bool words = work.lines.format.samples() == points / 8 * nufft_words &&
                       line_words(work.lines.format, work.lines.raw) == LineWords::u16;
    with_transform_size(points, [&](auto size) {
        using Size = NufftSize<size.log2_n>;
        with_grid_and_rows(work, real, [&](auto grid, auto rows) {
            using Grid = decltype(grid);
            using Rows = typename decltype(rows)::type;
            if (words) {
                launch<Size, ByWords<U16Words, nufft_words>, NufftFloats, Grid, Rows>(work, stream);
            } else {
                launch<Size, BySamples, NufftFloats, Grid, Rows>(work, stream);
            }
        });
    });
}

void launch_nufft_halves(const NufftWork& work, std::int64_t points, bool real, cudaStream_t stream) {
    with_transform_size(points, [&](auto size) {
        using Size = NufftSize<size.log2_n>;
        with_grid_and_rows(work, real, [&](auto grid, auto rows) {
            using Grid = decltype(grid);
            using Rows = typename decltype(rows)::type;
            launch<Size, ByWords<U16Words, nufft_words>, NufftHalves, Grid, Rows>(work, stream);
        });
    });
}

// ---- The single NUFFT kernel for grids whose points are a product of small numbers: the steps of nufft_on_chip.cuh
// with the transform for products of small numbers, in floats. Spectra and points have separate shared memory. Codes
// replace the spectra.

namespace {

// Returns bin k after an in-place last stage.
__device__ inline ComplexPair bin_in_place(const MixedRadix& length, const ComplexPair* exchange, int k) {
    const MixedStage& last = length.stage[length.stages - 1];
    const int m = k / last.butterflies;
    return exchange[place_of(last, length.stages - 1, k - m * last.butterflies) + m];
}

template <class Rows>
__device__ inline void store_bins(NufftRealGrid, const NufftWork& work, const MixedRadix& length,
                                  const ComplexPair* exchange, int t, int threads, const Rows& rows) {
#pragma unroll 1
    for (int z = t; z < work.depth; z += threads) {
        const int k = work.first_bin + z;
        const ComplexPair bin = bin_in_place(length, exchange, k);
        const ComplexPair mirror = bin_in_place(length, exchange, k == 0 ? 0 : length.n - k);
        rows.store(work, z, combined(__ldg(work.factors + z), bin, mirror));
    }
}

template <class Rows>
__device__ inline void store_bins(NufftComplexGrid, const NufftWork& work, const MixedRadix& length,
                                  const ComplexPair* exchange, int t, int threads, const Rows& rows) {
#pragma unroll 1
    for (int z = t; z < work.depth; z += threads) {
        const ComplexPair bin = bin_in_place(length, exchange, work.first_bin + z);
        rows.store(work, z, bin * __ldg(work.correction + z));
    }
}

// Shared memory: `groups` exchange buffers, then for each group the spectra of two lines or their codes. Surplus groups
// repeat the first pair so that all threads reach the barriers, but store nothing.
template <class Grid, class Rows>
__global__ void __launch_bounds__(MixedShape::max_block)
    transform_samples_mixed(const __grid_constant__ NufftWork work, const __grid_constant__ MixedShape shape,
                            LineReading reading) {
    extern __shared__ ComplexPair shared[];
    const MixedRadix& length = shape.length;
    const int threads = shape.threads;
    const int group = static_cast<int>(threadIdx.x) / threads, t = static_cast<int>(threadIdx.x) - group * threads;
    LinePairs::Pair pair = work.lines.pairs.at(blockIdx.x * shape.groups + group);
    const bool exists = pair.a >= 0;
    if (!exists) pair = {0, 0};
    ComplexPair* exchange = shared + group * length.exchange_points;
    std::byte* row_memory =
        reinterpret_cast<std::byte*>(shared + shape.groups * length.exchange_points) + group * shape.row_bytes * 2;
    auto* spectra = reinterpret_cast<float2*>(row_memory);
    const LinePair lines = work.lines.spectra(pair, t, threads);
    read_lines(reading, lines, spectra);
    __syncthreads();
    for (int p = t; p < work.repeated; p += threads) spectra[lines.samples + p] = spectra[p];
    __syncthreads();
    first_stage(AnyLength::first_stage(length), exchange, t, threads,
                [&]<int radix>(ComplexPair(&v)[radix], int u, int step) {
                    spread<NufftFloats>(work, spectra, v, u, step, length.n);
                });
    __syncthreads();
#pragma unroll 1
    for (int s = 1; s < length.stages; ++s) {
        middle_stage(RuntimeStage{length.stage[s], s}, exchange, work.twiddles, t, threads);
        __syncthreads();
    }
    const Rows rows(work, pair, row_memory);
    if (exists) store_bins(Grid{}, work, length, exchange, t, threads, rows);
    rows.finish(work, pair, exists ? t : threads, threads);
}

}  // namespace

void launch_nufft_mixed(const NufftWork& work, const MixedShape& shape, bool real, cudaStream_t stream) {
    const bool words = line_words(work.lines.format, work.lines.raw) == LineWords::u16;
    const auto groups = static_cast<unsigned>(shape.groups);
    with_grid_and_rows(work, real, [&](auto grid, auto rows) {
        const auto kernel = transform_samples_mixed<decltype(grid), typename decltype(rows)::type>;
        checked(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, max_shared_bytes()),
                "request shared memory");
        kernel<<<(work.lines.pairs.count() + groups - 1) / groups, static_cast<unsigned>(shape.groups * shape.threads),
                 index(shape.shared_bytes()), stream>>>(work, shape,
                                                        words ? LineReading::u16_words : LineReading::by_samples);
        checked_launch("transform nonuniform samples");
    });
}

}  // namespace echolux::cuda
