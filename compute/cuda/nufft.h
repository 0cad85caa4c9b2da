// NUFFT on the GPU (docs/algorithms.md 7). If a thread block can hold the finer grid of two lines, a single kernel
// converts raw samples to depth bins or byte codes. Other grids, and comparisons, use separate kernels for spreading
// and correction with cuFFT between them.
#pragma once

#include <optional>

#include "compute/cuda/fft.h"
#include "compute/cuda/fused_mixed.h"
#include "compute/cuda/grid_taps.h"
#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/moved_lines.h"
#include "compute/cuda/subtraction.h"
#include "compute/plan/params.h"

namespace echolux::cuda {

struct NufftWork;

// Tables on the device, shared by all workers.
class NufftDeviceTables {
  public:
    // Builds the tables of a valid spec on the current device. `fused` selects the single kernel if possible. Throws
    // Error{device, out_of_memory}.
    NufftDeviceTables(const ReconstructionSpec& spec, bool fused);

    bool in_one_kernel() const { return twiddles_.bytes() > 0; }
    bool in_halves() const { return half_twiddles_.bytes() > 0; }  // for 4-byte aligned lines

  private:
    friend class NufftLines;
    NufftDeviceTables(const ReconstructionSpec& spec, const NufftTables& tables, bool fused);
    NufftDeviceTables(const ReconstructionSpec& spec, const NufftTables& tables, const GridTaps& grid, bool fused);

    void find_tables_on_chip(const ReconstructionSpec& spec, const GridTaps& grid);

    bool real_;              // the grids are real
    std::int64_t grid_;      // points of the grid
    std::int64_t points_;    // points of the transform: those of the grid, or half as many for a real grid
    std::int64_t taps_;      // per point
    std::int64_t repeated_;  // samples read beyond the last
    std::int64_t first_bin_;
    std::int64_t depth_;
    std::optional<MovedLines> moved_;  // if lines have individual sample positions
    DeviceBuffer base_;                // int32 [points]
    DeviceBuffer weights_;             // complex [taps][points]
    DeviceBuffer correction_;          // float [depth]
    DeviceBuffer factors_;             // float4 [depth], replaces correction_ for real grids at half length
    std::optional<MixedShape> mixed_;  // shape of the single kernel for any length, if not a power of two
    DeviceBuffer twiddles_;            // for the single kernel
    DeviceBuffer half_twiddles_;
    DeviceBuffer half_weights_;
    float of_half_bins_ = 1;
};

// Transforms batches of lines on one stream.
class NufftLines : public LineMethod {
  public:
    // The tables must outlive this object. `rolling_width` is 0 without a rolling background. Throws Error{device,
    // out_of_memory}.
    NufftLines(const NufftDeviceTables& tables, const LineFormat& format, std::int64_t rolling_width,
               std::int64_t max_lines, cudaStream_t stream);

    std::int64_t lines_at_once() const override { return lines_at_once_; }
    DeviceBins enqueue(const RawLines& lines) override;
    bool enqueue_codes(const RawLines& lines, const ByteCodes& codes) override;

  private:
    // State of the separate passes.
    struct Passes {
        Passes(const NufftDeviceTables& tables, const LineFormat& format, std::int64_t rolling_width,
               std::int64_t lines, cudaStream_t stream);

        Subtraction subtract;
        DeviceBuffer spectra;  // float [lines][samples]
        DeviceBuffer weighed;  // same shape, for individual sample positions, real or complex
        DeviceBuffer grids;    // [lines][grid], float or complex
        Fft transform;
    };

    NufftWork on_chip(const RawLines& lines) const;
    void launch(const NufftWork& work) const;
    DeviceBins enqueue_passes(const RawLines& lines);
    void spread(const RawLines& lines);

    const NufftDeviceTables& tables_;
    LineFormat format_;
    cudaStream_t stream_;
    std::int64_t lines_at_once_;
    std::int64_t stride_;  // bins between lines
    DeviceBuffer bins_;    // complex [lines][stride]; complex grids are transformed in place
    std::optional<Passes> passes_;
};

}  // namespace echolux::cuda
