// The plain method on the GPU, in separate passes: subtract, (up-sample,) resample and weight, transform with cuFFT.
// For recipes that the fused kernel does not take, and to measure it against.
#pragma once

#include <optional>

#include "compute/cuda/fft.h"
#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/subtraction.h"
#include "compute/line_format.h"
#include "compute/plan_tables.h"

namespace echolux::cuda {

// The plan's tables on the device, shared by all workers.
struct PlainDeviceTables {
    explicit PlainDeviceTables(const PlainTables& tables);

    DeviceBuffer base;         // int32 [points]
    DeviceBuffer taps;         // float [points][taps]
    DeviceBuffer weight;       // complex [points]; empty: real
    DeviceBuffer real_weight;  // float [points]; empty: complex
};

class PlainMethod : public LineMethod {
  public:
    // Both tables live longer. At most about `most_lines` lines in one call. Throws Error{device, out_of_memory}.
    PlainMethod(const PlainTables& tables, const PlainDeviceTables& on_device, const LineFormat& format,
                DepthRange kept, std::int64_t most_lines, cudaStream_t stream);

    std::int64_t lines_at_once() const override { return lines_at_once_; }
    DeviceBins enqueue(const std::byte* raw, std::int64_t lines, const DeviceBackground& background) override;

  private:
    // Real lines with room before and after each for the prefilter's reach.
    struct Spectra {
        DeviceBuffer memory;
        std::int64_t pitch = 0;  // floats from line to line

        float* first() const;
    };

    void upsample(std::int64_t lines);
    void prefilter(std::int64_t lines);
    void resample_and_weigh(std::int64_t lines);

    const PlainTables& tables_;
    const PlainDeviceTables& on_device_;
    LineFormat format_;
    DepthRange kept_;
    cudaStream_t stream_;
    std::int64_t lines_at_once_;
    Subtraction subtraction_;
    Spectra spectra_;            // up-sampled
    DeviceBuffer recorded_;      // float [lines][padded], before up-sampling
    DeviceBuffer narrow_;        // complex [lines][padded / 2 + 1]
    DeviceBuffer wide_;          // complex [lines][upsampled / 2 + 1]
    DeviceBuffer coefficients_;  // of the spline, float [lines][upsampled + 2], from sample -1 on
    DeviceBuffer weighted_;      // [lines][transform], float or complex
    DeviceBuffer bins_;          // complex [lines][transform / 2 + 1] of a real transform; else they are `weighted_`
    std::optional<Fft> to_conjugate_;
    std::optional<Fft> from_conjugate_;
    Fft transform_;
};

}  // namespace echolux::cuda
