// Compressive sensing on the GPU: subtracts the background of raw lines or resamples them to the k grid, then searches
// the profiles that explain the used samples, in a single kernel if the grid fits on chip.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "compute/cuda/k_linear.h"
#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/sparse_search.h"
#include "compute/cuda/sparse_search_on_chip.h"
#include "compute/cuda/subtraction.h"
#include "compute/steps/sample.h"

namespace echolux::cuda {

// Tables on the device, shared by all workers.
class CompressiveDeviceTables {
  public:
    // Builds the tables of a valid spec on the current device. `plain` must outlive them. Calls will have about
    // `max_lines` lines. `on_chip` selects the single kernel if possible. Throws Error{device, out_of_memory}.
    CompressiveDeviceTables(const ReconstructionSpec& spec, const PlainTables& plain, DepthRange kept,
                            std::int64_t max_lines, bool on_chip);

    // Returns a short description for users.
    const char* way() const;

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
