// First steps of methods on a uniform grid: converts raw lines to weighted points of the k grid on the GPU. Separate
// passes subtract, up-sample if requested, resample and weight. A single kernel is used for up-sampled lines that fit
// on chip.
#pragma once

#include <complex>
#include <optional>
#include <vector>

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/toolkit.h"
#include "compute/plan/tables.h"
#include "compute/steps/sample.h"

namespace echolux::cuda {

// ---- First step of methods on the GPU: converts raw lines to floats and subtracts their background
// (docs/algorithms.md 2.1, 2.2).

// Converts batches of lines to floats.
class Subtraction {
  public:
    // `rolling_width` is 0 without a rolling background. Throws Error{out_of_memory}.
    Subtraction(const LineFormat& format, std::int64_t rolling_width, std::int64_t max_lines);

    // Enqueues to `spectra` [lines][samples], with `pitch` floats between lines.
    void enqueue(cudaStream_t stream, const RawLines& lines, float* spectra, std::int64_t pitch) const;

  private:
    LineFormat format_;
    std::int64_t rolling_width_;
    DeviceBuffer sums_;  // prefix sums of the rolling mean, double [lines][samples]
};

// ---- On-chip up-sampling by two or four (docs/algorithms.md 2.5): a single kernel from raw lines to weighted points
// of the k grid. Every second or fourth sample of the up-sampled line is a recorded one. The others are the line
// shifted by fractions of a sample, each computed by one inverse transform of the padded length, which is shorter than
// the up-sampled one.

class KLinearTables;

// Tables and launches, shared by all workers.
class UpsamplingKernel {
  public:
    // Uploads to the current device. Throws Error{device, out_of_memory}.
    explicit UpsamplingKernel(const PlainTables& tables);

    // Enqueues to `weighted` [lines][transform], float2 for complex weights and float for real ones, zero beyond the
    // points of the k grid.
    void enqueue(cudaStream_t stream, const LineFormat& format, const RawLines& lines, const KLinearTables& tables,
                 std::byte* weighted) const;

  private:
    DeviceBuffer twiddles_;
    DeviceBuffer factors_;  // float4 [upsample - 1][padded / 2]
};

// Tables on the device, shared by all workers.
class KLinearTables {
  public:
    // `tables` must outlive this object. `weight`: [points], real or complex. `on_chip` selects the single kernel.
    // Throws Error{device, out_of_memory}.
    KLinearTables(const PlainTables& tables, const std::vector<float>& weight, bool on_chip);
    KLinearTables(const PlainTables& tables, const std::vector<std::complex<float>>& weight, bool on_chip);

    const PlainTables& of_plan() const { return of_plan_; }
    bool real() const { return real_; }
    std::int64_t point_bytes() const { return real_ ? sizeof(float) : sizeof(float2); }  // size of a weighted point

    const std::optional<UpsamplingKernel>& one_kernel() const { return one_kernel_; }

    const std::int32_t* base() const { return base_.as<std::int32_t>(); }
    const float* taps() const { return taps_.as<float>(); }  // [points][taps]

    // [points]
    template <class Weight>
    const Weight* weight() const {
        return weight_.as<Weight>();
    }

  private:
    KLinearTables(const PlainTables& tables, bool real, DeviceBuffer weight, bool on_chip);

    const PlainTables& of_plan_;
    bool real_;
    DeviceBuffer base_;
    DeviceBuffer taps_;
    DeviceBuffer weight_;
    std::optional<UpsamplingKernel> one_kernel_;
};

// Resamples batches of lines to the k grid on one stream.
class KLinearLines {
  public:
    // The tables must outlive this object. Calls process up to about `max_lines` lines. Throws Error{device,
    // out_of_memory}.
    KLinearLines(const KLinearTables& tables, const LineFormat& format, std::int64_t max_lines, cudaStream_t stream);

    std::int64_t lines_at_once() const { return lines_at_once_; }

    // Enqueues the lines and returns [lines][transform], float2 for complex weights and float for real ones, zero
    // beyond the points of the k grid. The caller may modify them until the work of the next call starts. The buffer
    // holds whole batches of transforms.
    std::byte* enqueue(const RawLines& lines);

  private:
    // Real lines with margins on both sides for the prefilter.
    struct Spectra {
        DeviceBuffer memory;
        std::int64_t pitch = 0;  // floats between lines

        float* first() const;
    };

    void prepare_passes();
    void upsample(std::int64_t lines);
    void prefilter(std::int64_t lines);
    void resample_and_weigh(std::int64_t lines);
    template <class Weight>
    void resample_and_weigh(std::int64_t lines);

    const KLinearTables& tables_;
    const Lengths& lengths_;
    LineFormat format_;
    bool upsampled_;
    bool filtered_;
    cudaStream_t stream_;
    std::int64_t lines_at_once_;
    DeviceBuffer weighted_;

    // Used by the separate passes.
    std::optional<Subtraction> subtraction_;
    Spectra spectra_;            // up-sampled
    DeviceBuffer recorded_;      // float [lines][padded], before up-sampling
    DeviceBuffer narrow_;        // complex [lines][padded / 2 + 1]
    DeviceBuffer wide_;          // complex [lines][upsampled / 2 + 1]
    DeviceBuffer coefficients_;  // float [lines][upsampled + 2], spline coefficients starting at sample -1
    std::optional<Fft> to_conjugate_;
    std::optional<Fft> from_conjugate_;
};

}  // namespace echolux::cuda
