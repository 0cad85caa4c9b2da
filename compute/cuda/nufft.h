// NUFFT on the GPU (docs/transforms.md 7). If a thread block can hold the finer grid of two lines, a single kernel
// converts raw samples to depth bins or byte codes. Other grids, and comparisons, use separate kernels for spreading
// and correction with cuFFT between them.
#pragma once

#include <vector_types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "compute/choose_path.h"
#include "compute/cuda/k_linear.h"
#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/toolkit.h"
#include "compute/cuda/transform.h"
#include "compute/methods/k_jitter.h"
#include "compute/methods/nonuniform.h"
#include "compute/plan/params.h"

namespace echolux::cuda {

// ---- GPU implementation of the NUFFT for lines with individual sample positions (calibration.k_jitter,
// docs/transforms.md 7.1). Samples are weighted at their positions, then every point of the finer grid gathers its
// neighbours in order of position, so the bits do not depend on threads. Positions are computed in double, as on the
// CPU: in float, a sample of 8192 would be off by 1e-3 points.

// A complex function as pieces of its real and imaginary part.
struct ComplexPiecesView {
    CubicPiecesView<float> real, imaginary;
};

// Owns the coefficients on the device.
class ComplexPieces {
  public:
    // Uploads to the current device. Throws Error{device, out_of_memory}.
    explicit ComplexPieces(const CubicPieces<std::complex<float>>& pieces);

    ComplexPiecesView view() const { return view_; }

  private:
    DeviceBuffer real_, imaginary_;
    ComplexPiecesView view_;
};

// Tables on the device, shared by all workers.
class MovedLines {
  public:
    // Uploads to the current device. `real`: all weights are real. Throws Error{device, out_of_memory}.
    MovedLines(const MovedSamples& samples, bool real);

    // Returns the buffer size between the two kernels, per line.
    std::int64_t weighed_bytes() const;

    // Enqueues `spectra`, float [lines][samples], to `grids`, [lines][grid]. Both buffers are float or complex.
    void enqueue(cudaStream_t stream, const RawLines& lines, const float* spectra, std::byte* weighed,
                 std::byte* grids) const;

  private:
    template <class Value>
    void enqueue(cudaStream_t stream, const RawLines& lines, const float* spectra, Value* weighed, Value* grids) const;

    bool real_;
    MovedSpreading spreading_;  // points to device memory, like all other views
    KJitterView jitter_;
    SortedSamplesView by_place_;
    ComplexPieces weight_;
    ComplexPieces turn_;
    double cycles_a_point_;
    DeviceBuffer kernel_;
    DeviceBuffer rows_;
    DeviceBuffer sorted_points_;
    DeviceBuffer sorted_samples_;
    DeviceBuffer first_at_;
    DeviceBuffer points_;  // double [samples]
    DeviceBuffer shares_;  // float [samples]
};

struct NufftWork;

// Tables on the device, shared by all workers.
class NufftDeviceTables {
  public:
    // Builds the tables of a valid spec on the current device. Throws Error{device, out_of_memory}.
    NufftDeviceTables(const ReconstructionSpec& spec, const GpuPath& path);

    bool in_one_kernel() const { return path_.kernels == GpuKernels::nufft_on_chip; }
    bool in_halves() const { return path_.in_halves; }  // for 4-byte aligned lines

  private:
    friend class NufftLines;
    NufftDeviceTables(const ReconstructionSpec& spec, const GpuPath& path, const NufftTables& tables);
    NufftDeviceTables(const ReconstructionSpec& spec, const GpuPath& path, const NufftTables& tables,
                      const GridTaps& grid);

    void add_tables_on_chip(const NufftTables& tables, const GridTaps& grid);

    GpuPath path_;
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
