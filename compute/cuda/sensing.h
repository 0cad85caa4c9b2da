// Between depth profiles and the samples that a spec uses, for many lines at a time on a GPU: A of compressive sensing
// and its adjoint, scaled as methods/compressive.h says. For grids that one block of threads cannot hold, and for the
// matrix itself, which goes to the tensor cores: both ways are real products, profiles being rows of (re, im).
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

// How a batch lies in memory. What is beyond the modes and samples of a line must be zero, and stays so.
struct SensingShape {
    std::int64_t lines = 0;  // most of one call; memory holds them all
    std::int64_t sensed = 0;
    std::int64_t sample_pitch = 0;  // from line to line
    std::int64_t modes = 0;
    std::int64_t mode_pitch = 0;  // complex from line to line
};

// Profiles, and samples on their way to depth, are floats or halves (SensingOnDevice::takes_halves()). No bin of a
// profile is above the norm of the samples it was computed from.
class Sensing {
  public:
    virtual ~Sensing() = default;

    virtual void to_samples(std::int64_t lines, const void* profiles, float* samples) = 0;
    virtual void to_depth(std::int64_t lines, const void* samples, void* profiles) = 0;
};

// A plan's tables on the device, shared by all workers.
class SensingOnDevice {
  public:
    virtual ~SensingOnDevice() = default;

    virtual SensingShape shape() const = 0;

    virtual bool takes_halves() const = 0;
    virtual std::unique_ptr<Sensing> on(cudaStream_t stream) const = 0;
};

// Through a grid of any length, with cuFFT. About `max_lines` lines are given at most. Throws Error{device,
// out_of_memory}.
std::unique_ptr<SensingOnDevice> sensing_by_grid(const SensingTables& tables, std::int64_t max_lines);

// By the matrix: operands are halves, sums float. `scan_lines`: of the whole scan; they, not blocks, decide how many go
// into one product, and with it the order of its sums. A call costs a whole product, so that large blocks are wanted.
// Throws Error{device, out_of_memory}.
std::unique_ptr<SensingOnDevice> sensing_by_matrix(const SensingTables& tables, std::int64_t scan_lines);

}  // namespace echolux::cuda
