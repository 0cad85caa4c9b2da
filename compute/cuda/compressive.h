// Compressive sensing on the GPU (docs/transforms.md 9): subtracts the background of raw lines or resamples them to the
// k grid, then searches the profiles that explain the used samples, in a single kernel if the grid fits on chip.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "compute/choose_path.h"
#include "compute/cuda/k_linear.h"
#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/sparse_search_on_chip.h"
#include "compute/cuda/toolkit.h"
#include "compute/methods/compressive.h"
#include "compute/plan/choices.h"
#include "compute/steps/sample.h"

namespace echolux::cuda {

// ---- Maps depth profiles to the samples that a spec uses and back, for many lines on a GPU: A of compressive sensing
// and its adjoint, scaled as in methods/compressive.h. For grids that do not fit into one thread block, and for the
// explicit matrix on the tensor cores. Both directions are real products, with profiles as rows of (re, im).

// Memory layout of a batch. Padding beyond the modes and samples of a line must be zero and remains so.
struct SensingShape {
    std::int64_t lines = 0;  // max per call and capacity
    std::int64_t sensed = 0;
    std::int64_t sample_pitch = 0;  // between lines
    std::int64_t modes = 0;
    std::int64_t mode_pitch = 0;  // complex elements between lines
};

// Profiles, and samples passed to to_depth(), are floats or halves (SensingOnDevice::accepts_halves()). No bin of a
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

    virtual bool accepts_halves() const = 0;
    virtual std::unique_ptr<Sensing> on(cudaStream_t stream) const = 0;
};

// Uses a grid of any length with cuFFT. Calls will have up to about `max_lines` lines. Throws Error{device,
// out_of_memory}.
std::unique_ptr<SensingOnDevice> sensing_by_grid(const SensingTables& tables, std::int64_t max_lines);

// Uses the matrix with half operands and float sums. `scan_lines` is the number of lines of the whole scan. It
// determines the lines per product, and therefore the order of sums, independently of block sizes. Each call costs a
// whole product, so large blocks are preferable. Throws Error{device, out_of_memory}.
std::unique_ptr<SensingOnDevice> sensing_by_matrix(const SensingTables& tables, std::int64_t scan_lines);

// ---- Sparse search of compressive sensing for many A-scans at a time (docs/transforms.md 9). The scalars of each
// A-scan stay on the device. For transforms that do not fit into one thread block.

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
    bool accepts_halves_;
    cudaStream_t stream_;
    std::unique_ptr<Sensing> sensing_;
    DeviceBuffer profile_, next_;     // complex [lines][mode pitch]
    DeviceBuffer gradient_, step_;    // the same in float or half
    DeviceBuffer residual_, change_;  // float [lines][sample pitch]
    DeviceBuffer half_residual_;      // if the operator takes halves
    DeviceBuffer states_;             // per line
};

// Tables on the device, shared by all workers.
class CompressiveDeviceTables {
  public:
    // Builds the tables of a valid spec on the current device. `plain` must outlive them. Calls will have about
    // `max_lines` lines. Throws Error{device, out_of_memory}.
    CompressiveDeviceTables(const ReconstructionSpec& spec, const PlainTables& plain, DepthRange kept,
                            std::int64_t max_lines, const GpuPath& path);

  private:
    friend class CompressiveLines;

    SensingTables sensing_;
    CompressiveRecipe recipe_;
    DepthRange kept_;
    std::int64_t max_lines_;
    std::optional<SparseSearchOnChip> on_chip_;
    std::unique_ptr<SensingOnDevice> on_device_;  // without the single kernel
    DeviceBuffer samples_;                        // int32 [sensed]
    std::optional<KLinearTables> k_grid_;         // if samples are those of the k grid
    std::int64_t rolling_width_;
};

// Reconstructs batches of lines on one stream.
class CompressiveLines : public LineMethod {
  public:
    // The tables must outlive this object. Throws Error{device, out_of_memory}.
    CompressiveLines(const CompressiveDeviceTables& tables, const LineFormat& format, cudaStream_t stream);

    std::int64_t lines_at_once() const override { return lines_at_once_; }
    DeviceBins enqueue(const RawLines& lines) override;

  private:
    const float* spectra_of(const RawLines& lines);

    const CompressiveDeviceTables& tables_;
    cudaStream_t stream_;
    std::optional<SparseSearch> search_;    // without the single kernel
    std::optional<KLinearLines> k_linear_;  // if samples are those of the k grid
    std::int64_t lines_at_once_;
    std::optional<Subtraction> subtract_;  // otherwise
    DeviceBuffer spectra_;                 // float [lines][samples]
    DeviceBuffer bins_;                    // complex [lines][kept]
};

}  // namespace echolux::cuda
