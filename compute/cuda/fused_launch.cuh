// Launches the variant of the fused kernel for a length, a format and an output. Variants are compiled in five files to
// build in parallel.
#pragma once

#include <algorithm>

#include "compute/cuda/fused_kernel.cuh"
#include "compute/cuda/memory.h"
#include "compute/plan/tables.h"

namespace echolux::cuda {

// `voxel_bytes` is 0 without rows of voxels.
template <class Form>
int shared_bytes(std::int64_t transform, std::int64_t voxel_bytes) {
    std::int64_t bytes = 0;
    with_transform_size(transform, [&](auto size) {
        using Size = FusedSize<size.log2_n>;
        constexpr auto exchange = Size::exchange_points * static_cast<std::int64_t>(sizeof(typename Form::Point));
        bytes = Size::groups * (exchange + Form::lines * (Size::n / 2) * voxel_bytes);
    });
    return static_cast<int>(bytes);
}

template <class Source, class Taps, class Form, class Voxel>
void launch_fused(const FusedWork& work, std::int64_t transform, cudaStream_t stream) {
    const int shared = shared_bytes<Form>(transform, Voxel::has_voxels ? work.voxel_bytes : 0);
    with_transform_size(transform, [&](auto size) {
        using Size = FusedSize<size.log2_n>;
        const auto kernel = fused<Size::log2_n, Source, Taps, Form, Voxel>;
        checked(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
                "ask for shared memory");
        const std::uint32_t blocks = (work.groups<Form::lines>() + Size::groups - 1) / Size::groups;
        kernel<<<blocks, Size::block, static_cast<std::size_t>(shared), stream>>>(work);
        checked_launch("reconstruct in one kernel");
    });
}

// Dispatches on the word format.
template <class Taps, class Form, class Voxel>
void launch_fused_words(const FusedWork& work, std::int64_t transform, cudaStream_t stream) {
    if (work.words == LineWords::u16) {
        launch_fused<typename Form::template Words<U16Words>, Taps, Form, Voxel>(work, transform, stream);
    } else {
        launch_fused<typename Form::template Words<Packed12Words>, Taps, Form, Voxel>(work, transform, stream);
    }
}

template <class Voxel>
void launch_fused_lines(const FusedWork& work, std::int64_t transform, cudaStream_t stream) {
    if (work.points.form == LineForm::subtracted) {
        launch_fused<BySamples, EitherTaps, SideBySide, Voxel>(work, transform, stream);
    } else if (work.points.taps == nullptr) {
        launch_fused_words<CubicTaps, SideBySide, Voxel>(work, transform, stream);
    } else {
        launch_fused_words<TabledTaps, SideBySide, Voxel>(work, transform, stream);
    }
}

// Defined in fused_bins.cu, fused_half_bins.cu, fused_two_in_one.cu and fused_halves.cu.
void launch_fused_bins(const FusedWork& work, std::int64_t transform, cudaStream_t stream);
void launch_fused_bytes_and_bins(const FusedWork& work, std::int64_t transform, cudaStream_t stream);
void launch_fused_bytes_and_half_bins(const FusedWork& work, std::int64_t transform, cudaStream_t stream);
void launch_fused_two_in_one(const FusedWork& work, bool bytes, std::int64_t transform, cudaStream_t stream);
void launch_fused_halves(const FusedWork& work, bool bytes, std::int64_t transform, cudaStream_t stream);

}  // namespace echolux::cuda
