// Byte codes written by kernels that hold the bins of whole lines, which avoids reading them again.
#pragma once

#include "compute/cuda/peaks.cuh"
#include "compute/cuda/target.h"
#include "compute/cuda/voxel_value.cuh"

namespace echolux::cuda {

// Lines with a multiple of sixteen codes that can be stored sixteen at a time.
struct ByteCodes {
    ByteOfDecibel code;
    int depth = 0;
    bool flip = false;
    DeviceTarget target;

    // Returns the position of bin z in a row.
    __device__ int place(int z) const { return flip ? depth - 1 - z : z; }

    // Writes the codes of a line from shared memory, using `threads` threads.
    __device__ void store(const std::byte* row, std::int64_t line, int t, int threads) const {
        const TargetRow to = target.row(line);
        const auto* codes = reinterpret_cast<const uint4*>(row);
        for (int i = t; i < depth / 16; i += threads) {
            to.store(16 * i, codes[i]);
            if (to.peaks != nullptr) store_peaks_of_16(codes[i], to.peaks, target.depths_of_a_peak, i);
        }
    }
};

}  // namespace echolux::cuda
