// The single NUFFT kernel in half precision.
#include "compute/cuda/nufft_on_chip.cuh"

namespace echolux::cuda {

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

}  // namespace echolux::cuda
