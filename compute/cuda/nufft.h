// The fast transform of samples where they lie (docs/transforms.md 7), on the GPU. Where a block of threads can hold
// the finer grid of two lines, one kernel goes from raw samples to depth bins or byte codes; for other grids, and to
// measure it against, samples are spread by one kernel, transformed with cuFFT and corrected by another.
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
    // Of a valid spec, on the current device. `fused`: in one kernel where that is possible. Throws Error{device,
    // out_of_memory}.
    NufftDeviceTables(const ReconstructionSpec& spec, bool fused);

    bool in_one_kernel() const { return twiddles_.bytes() > 0; }
    bool in_halves() const { return half_twiddles_.bytes() > 0; }  // where lines lie at multiples of four bytes

  private:
    friend class NufftLines;
    NufftDeviceTables(const ReconstructionSpec& spec, const NufftTables& tables, bool fused);
    NufftDeviceTables(const ReconstructionSpec& spec, const NufftTables& tables, const GridTaps& grid, bool fused);

    void find_tables_on_chip(const ReconstructionSpec& spec, const GridTaps& grid);

    bool real_;              // grids are
    std::int64_t grid_;      // its points
    std::int64_t points_;    // of the transform: those of the grid, or half as many where it is real
    std::int64_t taps_;      // of each point
    std::int64_t repeated_;  // samples that are read beyond the last
    std::int64_t first_bin_;
    std::int64_t depth_;
    std::optional<MovedLines> moved_;  // where lines lie elsewhere each
    DeviceBuffer base_;                // int32 [points]
    DeviceBuffer weights_;             // complex [taps][points]
    DeviceBuffer correction_;          // float [depth]
    DeviceBuffer factors_;             // float4 [depth], the same of real grids that are transformed at half the length
    std::optional<MixedShape> mixed_;  // of the one kernel for any length, where that for powers of two will not do
    DeviceBuffer twiddles_;            // of the one kernel
    DeviceBuffer half_twiddles_;
    DeviceBuffer half_weights_;
    float of_half_bins_ = 1;
};

class NufftLines : public LineMethod {
  public:
    // The tables live longer. `rolling_width` 0: no rolling background. Throws Error{device, out_of_memory}.
    NufftLines(const NufftDeviceTables& tables, const LineFormat& format, std::int64_t rolling_width,
               std::int64_t max_lines, cudaStream_t stream);

    std::int64_t lines_at_once() const override { return lines_at_once_; }
    DeviceBins enqueue(const RawLines& lines) override;
    bool enqueue_codes(const RawLines& lines, const ByteCodes& codes) override;

  private:
    // What the separate passes work with.
    struct Passes {
        Passes(const NufftDeviceTables& tables, const LineFormat& format, std::int64_t rolling_width,
               std::int64_t lines, cudaStream_t stream);

        Subtraction subtract;
        DeviceBuffer spectra;  // float [lines][samples]
        DeviceBuffer weighed;  // the same, of lines that lie elsewhere each, real or complex
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
    std::int64_t stride_;  // from line to line of the bins
    DeviceBuffer bins_;    // complex [lines][stride]; complex grids are transformed in place
    std::optional<Passes> passes_;
};

}  // namespace echolux::cuda
