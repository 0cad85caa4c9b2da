// The fused kernel (fused_kernel.cuh) for lengths that are products of small numbers: the same steps with the transform
// of mixed_radix.cuh. Spectra and points have separate shared memory, so each thread only holds the operands of a
// butterfly. Voxels replace the spectra.
#pragma once

#include "compute/cuda/fused_kernel.cuh"
#include "compute/cuda/fused_mixed.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/mixed_radix.cuh"

namespace echolux::cuda {

inline LineReading reading_of(const FusedWork& work) {
    if (work.words == LineWords::none) return LineReading::by_samples;
    const bool u16 = work.words == LineWords::u16;
    if (work.points.form == LineForm::as_recorded)
        return u16 ? LineReading::u16_as_recorded : LineReading::packed12_as_recorded;
    return u16 ? LineReading::u16_words : LineReading::packed12_words;
}

// Shared memory: `groups` exchange buffers, then for each group the spectra of two lines or the rows of their voxels.
template <class Length, class Taps, class Voxel>
__global__ void __launch_bounds__(Length::max_block, Length::min_blocks)
    fused_mixed(const __grid_constant__ FusedWork work, const __grid_constant__ MixedShape shape, LineReading reading) {
    using Form = SideBySide;
    using Point = Form::Point;
    extern __shared__ float4 shared[];
    const MixedRadix& length = shape.length;
    const int threads = Length::threads(shape);
    const int group = threadIdx.x / threads, t = threadIdx.x - group * threads;
    const NeighbourLines<2> own(work, blockIdx.x * shape.groups + group);
    Point* all = reinterpret_cast<Point*>(shared);
    Point* exchange = all + group * length.exchange_points;
    std::byte* rows =
        reinterpret_cast<std::byte*>(all + shape.groups * length.exchange_points) + group * shape.row_bytes * 2;
    auto* spectra = reinterpret_cast<float2*>(rows);

    read_lines(reading, own.spectra(work, t, threads), spectra);
    __syncthreads();
    const float4* points = own.points(work);
    const Taps taps(work.points.taps);
    first_stage(Length::first_stage(length), exchange, t, threads, [&](auto& v, int u, int step) {
        resample_lines<Form>(work.points, points, taps, spectra, v, u, step);
    });
    __syncthreads();
    Length::middle_stages(length, [&](const auto& stage) {
        middle_stage(stage, exchange, work.twiddles, t, threads);
        __syncthreads();
    });
    typename Voxel::Row bins[2];
    own.template rows<Voxel>(work, rows, shape.row_bytes, Length::n(length) / 2, bins);
    last_stage(Length::last_stage(length), Length::n(length), exchange, work.twiddles, t, threads,
               [&](int bin, const Point& value) {
                   Voxel::store(work, value.a, bins[0], bin);
                   Voxel::store(work, value.b, bins[1], bin);
               });
    if constexpr (!Voxel::has_voxels) return;
    __syncthreads();
    own.store(work, rows, shape.row_bytes, t, threads);
}

template <class Length, class Taps, class Voxel>
void launch_fused_mixed(const FusedWork& work, const MixedShape& shape, cudaStream_t stream) {
    const auto kernel = fused_mixed<Length, Taps, Voxel>;
    checked(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, max_shared_bytes()),
            "ask for shared memory");
    const auto groups = static_cast<std::uint32_t>(shape.groups);
    kernel<<<(work.groups<2>() + groups - 1) / groups, static_cast<unsigned>(shape.groups * shape.threads),
             static_cast<std::size_t>(shape.shared_bytes()), stream>>>(work, shape, reading_of(work));
    checked_launch("reconstruct in one kernel");
}

}  // namespace echolux::cuda
