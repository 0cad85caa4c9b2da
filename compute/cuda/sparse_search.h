// The search of compressive sensing for many A-scans at a time, each with scalars of its own, which stay on the device
// (docs/transforms.md 9): for transforms that one block of threads cannot hold.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>

#include "compute/cuda/memory.h"
#include "compute/cuda/sensing.h"
#include "compute/plan/choices.h"

namespace echolux::cuda {

struct SearchWork;

class SparseSearch {
  public:
    // Sensing and stream live longer. tries: of each iteration, enough_tries(); all are made, because nobody asks the
    // GPU how many lines want them. Throws Error{device, out_of_memory}.
    SparseSearch(const SensingOnDevice& sensing, const CompressiveRecipe& recipe, int tries, cudaStream_t stream);

    std::int64_t lines_at_once() const { return shape_.lines; }

    // spectra: [lines][pitch] of which `samples` [sensed] are used; both on the device.
    void enqueue(const float* spectra, std::int64_t pitch, const std::int32_t* samples, std::int64_t lines);

    // Enqueues writing what was found last: bins: [lines][kept], the profile times `to_bins`.
    void store(std::int64_t lines, DepthRange kept, float to_bins, float2* bins) const;

  private:
    SearchWork work(std::int64_t lines) const;
    template <class Bin>
    void search(const float* spectra, std::int64_t pitch, const std::int32_t* samples, std::int64_t lines);
    template <class Bin>
    void iterate(std::int64_t iteration, std::int64_t lines);

    CompressiveRecipe recipe_;
    int tries_;
    SensingShape shape_;
    bool takes_halves_;
    cudaStream_t stream_;
    std::unique_ptr<Sensing> sensing_;
    DeviceBuffer profile_, next_;     // complex [lines][mode pitch]
    DeviceBuffer gradient_, step_;    // the same, or halves
    DeviceBuffer residual_, change_;  // float [lines][sample pitch]
    DeviceBuffer half_residual_;      // where halves are taken
    DeviceBuffer states_;             // of each line
};

}  // namespace echolux::cuda
