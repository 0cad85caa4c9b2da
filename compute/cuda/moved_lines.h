// The NUFFT of lines whose samples lie elsewhere each (calibration.k_jitter, docs/transforms.md 7.1) on the GPU:
// samples are weighed where they lie, then every point of the finer grid gathers those near it, in the order of their
// places, so that bits do not depend on threads. Places are computed in double, as on the CPU: in float a sample of
// 8192 would be off by a thousandth of a point.
#pragma once

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/methods/samples_by_place.h"

namespace echolux::cuda {

// A complex function by its parts, and its pieces on the device.
struct ComplexPiecesView {
    CubicPiecesView<float> real, imaginary;
};

class ComplexPieces {
  public:
    // On the current device. Throws Error{device, out_of_memory}.
    explicit ComplexPieces(const CubicPieces<std::complex<float>>& pieces);

    ComplexPiecesView view() const { return view_; }

  private:
    DeviceBuffer real_, imaginary_;
    ComplexPiecesView view_;
};

// Tables on the device, shared by all workers.
class MovedLines {
  public:
    // `real`: all weights are. On the current device. Throws Error{device, out_of_memory}.
    MovedLines(const MovedSamples& samples, bool real);

    // Between the two kernels, for each line.
    std::int64_t weighed_bytes() const;

    // From `spectra`, float [lines][samples], to `grids`, [lines][grid], both float or complex.
    void enqueue(cudaStream_t stream, const RawLines& lines, const float* spectra, std::byte* weighed,
                 std::byte* grids) const;

  private:
    template <class Value>
    void enqueue(cudaStream_t stream, const RawLines& lines, const float* spectra, Value* weighed, Value* grids) const;

    bool real_;
    MovedSpreading spreading_;  // with pieces on the device, and so are those of all others
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
