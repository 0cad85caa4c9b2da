// Sparse search of compressive sensing for many A-scans at a time (docs/algorithms.md 9). The scalars of each A-scan
// stay on the device. For transforms that do not fit into one thread block.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>

#include "compute/cuda/memory.h"
#include "compute/cuda/sensing.h"
#include "compute/plan/choices.h"

namespace echolux::cuda {

struct SearchWork;

// Searches of one worker, on its stream.
class SparseSearch {
  public:
    // Sensing and stream must outlive this object. `tries` is enough_tries(): every iteration makes all of them,
    // because the GPU is not queried for the lines that need them. Throws Error{device, out_of_memory}.
    SparseSearch(const SensingOnDevice& sensing, const CompressiveRecipe& recipe, int tries, cudaStream_t stream);

    std::int64_t lines_at_once() const { return shape_.lines; }

    // Enqueues a search. `spectra`: [lines][pitch], of which `samples` [sensed] are used; both on the device.
    void enqueue(const float* spectra, std::int64_t pitch, const std::int32_t* samples, std::int64_t lines);

    // Enqueues writing the latest result to bins [lines][kept], the profile times `to_bins`.
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
    DeviceBuffer gradient_, step_;    // the same in float or half
    DeviceBuffer residual_, change_;  // float [lines][sample pitch]
    DeviceBuffer half_residual_;      // if the operator takes halves
    DeviceBuffer states_;             // per line
};

}  // namespace echolux::cuda
