// Compressive sensing of an A-scan in a single kernel, for grids that fit into shared memory: k grids of 1024, 2048 or
// 4096 points, with or without two-fold oversampling.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "compute/cuda/memory.h"
#include "compute/methods/compressive.h"
#include "compute/plan/choices.h"

namespace echolux::cuda {

// Tables and launches, shared by all workers.
class SparseSearchOnChip {
  public:
    // The tables must fit (GpuKernels::compressive_on_chip). Computes the kept bins. Throws Error{device,
    // out_of_memory}.
    SparseSearchOnChip(const SensingTables& tables, const CompressiveRecipe& recipe, DepthRange kept);

    // Enqueues a search. `spectra`: [lines][pitch] on the device. `bins`: [lines][kept], scaled like those of every
    // method.
    void enqueue(cudaStream_t stream, const float* spectra, std::int64_t pitch, std::int64_t lines, float2* bins) const;

  private:
    CompressiveRecipe recipe_;
    DepthRange kept_;
    bool real_;
    std::int64_t modes_;
    std::int64_t sensed_;
    std::int64_t width_;
    std::int64_t round_count_;
    float to_bins_;
    DeviceBuffer samples_, first_, weights_, threes_, turns_, rounds_, correction_, factors_, twiddles_;
};

}  // namespace echolux::cuda
