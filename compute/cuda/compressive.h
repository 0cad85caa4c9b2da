// Compressive sensing on the GPU: raw lines less their background, or their points on the k grid, then the search for
// the profiles that explain the samples used, in one kernel where the grid fits on chip.
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
#include "compute/steps/line_format.h"

namespace echolux::cuda {

// On the device, shared by all workers.
class CompressiveDeviceTables {
  public:
    // Of a valid spec, on the current device; `plain` lives longer. About `max_lines` lines are given in one call.
    // `on_chip`: in one kernel where that is possible. Throws Error{device, out_of_memory}.
    CompressiveDeviceTables(const ReconstructionSpec& spec, const PlainTables& plain, DepthRange kept,
                            std::int64_t max_lines, bool on_chip);

    // How, in a few words for people.
    const char* way() const;

  private:
    friend class CompressiveLines;

    SensingTables sensing_;
    CompressiveRecipe recipe_;
    DepthRange kept_;
    std::int64_t max_lines_;
    std::optional<SparseSearchOnChip> on_chip_;
    std::unique_ptr<SensingOnDevice> on_device_;  // else
    DeviceBuffer samples_;                        // int32 [sensed]
    std::optional<KLinearTables> k_grid_;         // where samples are those of the k grid
    std::int64_t rolling_width_;
};

class CompressiveLines : public LineMethod {
  public:
    // The tables live longer. Throws Error{device, out_of_memory}.
    CompressiveLines(const CompressiveDeviceTables& tables, const LineFormat& format, cudaStream_t stream);

    std::int64_t lines_at_once() const override { return lines_at_once_; }
    DeviceBins enqueue(const RawLines& lines) override;

  private:
    const float* spectra_of(const RawLines& lines);

    const CompressiveDeviceTables& tables_;
    cudaStream_t stream_;
    std::optional<SparseSearch> search_;    // where it is not on chip
    std::optional<KLinearLines> k_linear_;  // where samples are those of the k grid
    std::int64_t lines_at_once_;
    std::optional<Subtraction> subtract_;  // else
    DeviceBuffer spectra_;                 // float [lines][samples]
    DeviceBuffer bins_;                    // complex [lines][kept]
};

}  // namespace echolux::cuda
