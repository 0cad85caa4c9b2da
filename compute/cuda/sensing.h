// Maps depth profiles to the samples that a spec uses and back, for many lines on a GPU: A of compressive sensing and
// its adjoint, scaled as in methods/compressive.h. For grids that do not fit into one thread block, and for the
// explicit matrix on the tensor cores. Both directions are real products, with profiles as rows of (re, im).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "compute/cuda/fft.h"
#include "compute/cuda/matrix_product.h"
#include "compute/cuda/memory.h"
#include "compute/methods/compressive.h"

namespace echolux::cuda {

// Memory layout of a batch. Padding beyond the modes and samples of a line must be zero and remains so.
struct SensingShape {
    std::int64_t lines = 0;  // max per call and capacity
    std::int64_t sensed = 0;
    std::int64_t sample_pitch = 0;  // between lines
    std::int64_t modes = 0;
    std::int64_t mode_pitch = 0;  // complex elements between lines
};

// Profiles, and samples passed to to_depth(), are floats or halves (SensingOnDevice::takes_halves()). No bin of a
// profile exceeds the norm of the samples it was computed from.
class Sensing {
  public:
    virtual ~Sensing() = default;

    virtual void to_samples(std::int64_t lines, const void* profiles, float* samples) = 0;
    virtual void to_depth(std::int64_t lines, const void* samples, void* profiles) = 0;
};

// Tables of a plan on the device, shared by all workers.
class SensingOnDevice {
  public:
    virtual ~SensingOnDevice() = default;

    virtual SensingShape shape() const = 0;

    virtual bool takes_halves() const = 0;
    virtual std::unique_ptr<Sensing> on(cudaStream_t stream) const = 0;
};

// Uses a grid of any length with cuFFT. Calls will have up to about `max_lines` lines. Throws Error{device,
// out_of_memory}.
std::unique_ptr<SensingOnDevice> sensing_by_grid(const SensingTables& tables, std::int64_t max_lines);

// Uses the matrix with half operands and float sums. `scan_lines` is the number of lines of the whole scan. It
// determines the lines per product, and therefore the order of sums, independently of block sizes. Each call costs a
// whole product, so large blocks are preferable. Throws Error{device, out_of_memory}.
std::unique_ptr<SensingOnDevice> sensing_by_matrix(const SensingTables& tables, std::int64_t scan_lines);

}  // namespace echolux::cuda
