// Launching the variant of the fused kernel for a length, a format and what becomes of the bins. Variants are compiled
// in two files, which takes half as long.
#pragma once

#include <algorithm>

#include "compute/cuda/fused_kernel.cuh"
#include "compute/cuda/memory.h"
#include "compute/plan/tables.h"

namespace echolux::cuda {

// `voxel_bytes` 0: no rows of voxels.
inline int shared_bytes(std::int64_t transform, std::int64_t voxel_bytes) {
    std::int64_t bytes = 0;
    with_transform_size(transform, [&](auto size) {
        using Size = FusedSize<size.log2_n>;
        bytes = Size::groups * (Size::exchange_bytes + 2 * (Size::n / 2) * voxel_bytes);
    });
    return static_cast<int>(bytes);
}

// Calls use(source) with the fastest way to read such lines.
template <class Use>
void with_source(const RawFormat& format, const Lengths& lengths, std::int64_t line_bytes, const std::byte* raw,
                 const Use& use) {
    const bool words = lengths.samples == lengths.transform && format.channels == 1 && format.shift == 0 &&
                       format.bits == 0 && format.byte_order == ByteOrder::little &&
                       (reinterpret_cast<std::uintptr_t>(raw) | static_cast<std::uintptr_t>(line_bytes)) % 4 == 0;
    if (words && format.sample_format == SampleFormat::u16) return use(ByWords<U16Words>{});
    if (words && format.sample_format == SampleFormat::packed12) return use(ByWords<Packed12Words>{});
    use(BySamples{});
}

template <class Voxel>
void launch_fused(const FusedWork& work, const RawFormat& format, const Lengths& lengths, cudaStream_t stream) {
    const int shared = shared_bytes(lengths.transform, Voxel::has_voxels ? work.voxel_bytes : 0);
    with_transform_size(lengths.transform, [&](auto size) {
        with_source(format, lengths, work.format.line_bytes(), work.raw, [&](auto source) {
            using Size = FusedSize<size.log2_n>;
            const auto kernel = fused<Size::log2_n, decltype(source), Voxel>;
            checked(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
                    "ask for shared memory");
            const std::uint32_t blocks = (work.pairs + Size::groups - 1) / Size::groups;
            kernel<<<blocks, Size::block, static_cast<std::size_t>(shared), stream>>>(work);
            checked_launch("reconstruct in one kernel");
        });
    });
}

// In fused_bins.cu.
void launch_fused_bins(const FusedWork& work, const RawFormat& format, const Lengths& lengths, cudaStream_t stream);
void launch_fused_bytes_and_bins(const FusedWork& work, const RawFormat& format, const Lengths& lengths,
                                 cudaStream_t stream);

}  // namespace echolux::cuda
