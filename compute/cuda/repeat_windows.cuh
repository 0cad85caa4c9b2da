// Sums over depth of two lines for some lags that follow each other, by a warp. Each thread has successive bins, which
// come to it by way of shared memory: at all lags together each bin of the other line is fetched once.
#pragma once

#include "compute/cuda/repeat_work.cuh"

namespace echolux::cuda {

inline constexpr int bins_of_a_thread = 8;
inline constexpr int bins_of_a_warp = 32 * bins_of_a_thread;

// A part of a line in shared memory. After each thread's bins there is a gap, so that those of all threads lie in
// different banks.
template <int lags>
struct WarpBins {
    static constexpr int bins = bins_of_a_warp + lags - 1;

    float2 padded[bins + bins / bins_of_a_thread];

    // Bins from `first` on, 0 beyond the line.
    __device__ void fetch(const float2* line, int depth, int first) {
        __syncwarp();
        for (int i = lane_of(); i < bins; i += 32) {
            const int at = first + i;
            padded[i + i / bins_of_a_thread] = at >= 0 && at < depth ? __ldg(line + at) : float2{0, 0};
        }
        __syncwarp();
    }
    // The i-th from the thread's own first on.
    __device__ Phasor own(int i) const {
        const int at = lane_of() * bins_of_a_thread + i;
        return phasor_of(padded[at + at / bins_of_a_thread]);
    }
};

// A thread's bins of the reference; zero where there is no tissue.
struct TissueBins {
    Phasor bin[bins_of_a_thread];

    template <int lags>
    __device__ TissueBins(WarpBins<lags>& shared, const float2* line, int depth, int first, float min_power) {
        shared.fetch(line, depth, first);
#pragma unroll
        for (int k = 0; k < bins_of_a_thread; ++k) {
            bin[k] = shared.own(k);
            if (!(power_of(bin[k]) >= min_power)) bin[k] = {};
        }
    }

    __device__ float power() const {
        float sum = 0;
#pragma unroll
        for (const Phasor& one : bin) sum += power_of(one);
        return sum;
    }
};

// add(n, bin of the tissue, bin of the other line at lag n after it) for all bins of the thread and all lags.
template <int lags, class Add>
__device__ inline void at_all_lags(const TissueBins& tissue, const WarpBins<lags>& other, const Add& add) {
    Phasor window[lags];
#pragma unroll
    for (int n = 0; n < lags - 1; ++n) window[n] = other.own(n);
#pragma unroll
    for (int k = 0; k < bins_of_a_thread; ++k) {
        window[(k + lags - 1) % lags] = other.own(k + lags - 1);
#pragma unroll
        for (int n = 0; n < lags; ++n) add(n, tissue.bin[k], window[(k + n) % lags]);
    }
}

}  // namespace echolux::cuda
