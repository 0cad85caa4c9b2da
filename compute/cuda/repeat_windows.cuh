// Sums over depth of two lines for several consecutive lags, by a warp. Each thread processes consecutive bins from
// shared memory, so that each bin of the other line is loaded once for all lags.
#pragma once

#include "compute/cuda/repeat_work.cuh"

namespace echolux::cuda {

inline constexpr int bins_of_a_thread = 8;
inline constexpr int bins_of_a_warp = 32 * bins_of_a_thread;

// Part of a line in shared memory. A gap after each thread's bins avoids bank conflicts.
template <int lags>
struct WarpBins {
    static constexpr int bins = bins_of_a_warp + lags - 1;

    float2 padded[bins + bins / bins_of_a_thread];

    // Loads bins starting at `first`, 0 beyond the line.
    __device__ void fetch(const float2* line, int depth, int first) {
        __syncwarp();
        for (int i = lane_of(); i < bins; i += 32) {
            const int at = first + i;
            padded[i + i / bins_of_a_thread] = at >= 0 && at < depth ? __ldg(line + at) : float2{0, 0};
        }
        __syncwarp();
    }
    // Returns bin i, counted from the thread's first bin.
    __device__ Phasor own(int i) const {
        const int at = lane_of() * bins_of_a_thread + i;
        return phasor_of(padded[at + at / bins_of_a_thread]);
    }
};

// A thread's bins of the reference, zero outside tissue.
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

// Calls add(n, bin of the tissue, bin of the other line n further) for all bins of the thread and all lags.
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
