// Points of the uniform k grid in the layout of the fused kernel: their samples, weight and interpolated background.
// Interpolation is linear in the samples, so the background can be subtracted after it. One interpolated background
// then serves all lines of its B-scan, and the kernel reads samples as recorded.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/on_chip.h"
#include "compute/plan/tables.h"

namespace echolux::cuda {

// A factor of a half-precision transform: real and imaginary part.
struct HalfFactor {
    __half2 parts;
};

// A point in half precision: its taps, its weight, and the interpolated rest of the background.
struct alignas(16) HalfPoint {
    __half2 taps[2];
    __half2 weight;  // real and imaginary part
    std::uint16_t base;
    __half minus_rest;  // in units of half a count
};

// Points of the k grid in device memory, in the layout of a line form.
struct KPoints {
    LineForm form = LineForm::subtracted;
    const std::uint16_t* base = nullptr;  // [transform], first of four samples
    const float4* taps = nullptr;         // [transform], weights of the samples; null: LagrangeCubic
    // [rows][transform]: offset from sample base + 1 (without taps), negative background, and real and imaginary part
    // of the weight. If two lines form one transform, half the weight and the bits of `base` replace the weight. With
    // form `halves`, these are HalfPoints.
    const float4* points = nullptr;
    std::int64_t row = 0;  // points between B-scans; 0: all share one row

    // Returns the points for lines that start `frames` B-scans later.
    KPoints from(std::int64_t frames) const {
        KPoints later = *this;
        later.points += frames * row;
        return later;
    }
};

// Tables that do not depend on the background, shared by all workers. The weight is zero beyond the points of the k
// grid.
class KPointTables {
  public:
    // For tables of up to four taps and samples of 0 .. sample_end - 1. Throws Error{out_of_memory}.
    KPointTables(const PlainTables& tables, double sample_end);

    std::int64_t transform() const { return transform_; }
    bool real() const { return real_; }

    // Returns the scale of the weights of HalfPoints, a power of two that keeps every line below the largest half
    // throughout the transform.
    float half_scale() const { return half_scale_; }

    // Returns the scale of bins stored as halves, which never overflow for any taps.
    float half_bin_scale() const { return half_scale_ / 2; }

    const std::uint16_t* base() const { return base_.as<std::uint16_t>(); }
    const float* offset() const { return offset_.as<float>(); }
    const float4* taps() const { return taps_.as<float4>(); }  // null: LagrangeCubic at the offset
    const float2* weight() const { return weight_.as<float2>(); }

  private:
    std::int64_t transform_;
    bool real_;
    float half_scale_;
    DeviceBuffer base_;
    DeviceBuffer offset_;
    DeviceBuffer taps_;
    DeviceBuffer weight_;
};

// A worker's points, including the backgrounds of its block.
class KPointRows {
  public:
    // The tables must outlive this object. Throws Error{out_of_memory}.
    KPointRows(const KPointTables& tables, std::int64_t max_frames)
        : tables_(tables), points_(max_frames * tables.transform() * std::int64_t{sizeof(float4)}) {}

    // Enqueues the points of up to `max_frames` acquired B-scans unless they are still valid.
    KPoints enqueue(cudaStream_t stream, LineForm form, const DeviceBackground& background, std::int64_t frames);

  private:
    const KPointTables& tables_;
    DeviceBuffer points_;
    LineForm form_ = LineForm::subtracted;
    bool lasting_ = false;  // the points are valid for any block of that form
};

}  // namespace echolux::cuda
