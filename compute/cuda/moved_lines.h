// GPU implementation of the NUFFT for lines with individual sample positions (calibration.k_jitter, docs/algorithms.md
// 7.1). Samples are weighted at their positions, then every point of the finer grid gathers its neighbours in order of
// position, so the bits do not depend on threads. Positions are computed in double, as on the CPU: in float, a sample
// of 8192 would be off by 1e-3 points.
#pragma once

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/methods/k_jitter.h"

namespace echolux::cuda {

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
    SamplesByPlaceView by_place_;
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

}  // namespace echolux::cuda
