// Mirrored bins of half-length transforms (half_length.h): transfers bin n - k to the thread that holds bin k.
#pragma once

#include "compute/cuda/line_transform.cuh"

namespace echolux::cuda {

__device__ inline ComplexPair conjugate(ComplexPair p) {
    return {{p.a.x, -p.a.y}, {p.b.x, -p.b.y}};
}

// Returns own z + mirrored conj(mirror), with both factors in one float4.
__device__ inline ComplexPair combined(float4 factors, ComplexPair z, ComplexPair mirror) {
    return z * float2{factors.x, factors.y} + conjugate(mirror) * float2{factors.z, factors.w};
}

// Calls use(i, k, mirror) for v[i], bin k of transform_line(), and bin (n - k) mod n, if first <= k < end. All threads
// of the block must call it. `exchange` is free after the next barrier.
template <class Size, class Point, class Use>
__device__ inline void with_mirrored_bins(Point* exchange, const Point (&v)[16], int t, int first, int end,
                                          const Use& use) {
    const auto mirrored = [](int k) { return (Size::n - k) & (Size::n - 1); };
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        const int k = t + i * Size::threads, wanted_by = mirrored(k);
        if (wanted_by >= first && wanted_by < end) exchange[padded(k)] = v[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        const int k = t + i * Size::threads;
        if (k >= first && k < end) use(i, k, exchange[padded(mirrored(k))]);
    }
}

}  // namespace echolux::cuda
