// The single NUFFT kernel in floats.
#include "compute/cuda/line_words.h"
#include "compute/cuda/nufft_on_chip.cuh"

namespace echolux::cuda {

bool nufft_fits_on_chip(std::int64_t points, bool real, std::int64_t samples_read, DepthRange kept) {
    if (!has_transform_size(points) || (!real && 2 * kept.end > points)) return false;
    bool fits = false;
    with_transform_size(points, [&](auto size) {
        constexpr std::int64_t bytes = NufftSize<size.log2_n>::template exchange_bytes<NufftFloats>;
        fits = bytes + 2 * (kept.end - kept.begin) <= max_shared_bytes() &&
               samples_read * std::int64_t{sizeof(NufftFloats::Sample)} <= bytes;
    });
    return fits;
}

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

}  // namespace echolux::cuda
