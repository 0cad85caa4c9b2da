// The points of the uniform k grid as the fused kernel wants them: between which samples each lies, its weight, and
// what the background comes to there. Interpolation is linear in the samples, so a background may as well be taken off
// afterwards: once interpolated it serves all lines of its B-scan, and the samples go into the kernel as recorded.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/plan/plan_tables.h"

namespace echolux::cuda {

// How the kernel takes lines.
enum class LineForm {
    subtracted,   // sample by sample, less their background
    as_recorded,  // by whole words, with their background
    two_in_one,   // likewise, two lines as one complex transform: for real weights and LagrangeCubic
    halves        // by whole words, in half precision, less what is whole of their background
};

// A factor of a transform in half precision: real and imaginary part.
struct HalfFactor {
    __half2 parts;
};

// A point in half precision: its taps, its weight, and what the rest of the background comes to there.
struct alignas(16) HalfPoint {
    __half2 taps[2];
    __half2 weight;  // real and imaginary part
    std::uint16_t base;
    __half minus_rest;  // of halved counts
};

struct KPoints {
    LineForm form = LineForm::subtracted;
    const std::uint16_t* base = nullptr;  // [transform]: first of four samples
    const float4* taps = nullptr;         // [transform]: their weights; null: LagrangeCubic
    // [rows][transform]: offset from sample base + 1 (where there are no taps); minus the background; real and
    // imaginary part of the weight, or half the weight and the bits of `base` where two lines are one transform. Or
    // HalfPoints.
    const float4* points = nullptr;
    std::int64_t row = 0;  // points from one B-scan to the next; 0: all have the same

    KPoints from(std::int64_t frames) const {
        KPoints later = *this;
        later.points += frames * row;
        return later;
    }
};

// What does not depend on the background, shared by all workers. Beyond the points of the k grid the weight is zero.
class KPointTables {
  public:
    // For tables of up to four taps and samples of 0 .. sample_end - 1. Throws Error{out_of_memory}.
    KPointTables(const PlainTables& tables, double sample_end);

    std::int64_t transform() const { return transform_; }
    bool real() const { return real_; }

    // Of the weights of HalfPoints, a power of two: no line can exceed the largest half anywhere in the transform.
    float half_scale() const { return half_scale_; }

    // Of bins as halves: whatever the taps, none overflows.
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

// A worker's points, with the backgrounds of its block.
class KPointRows {
  public:
    // The tables live longer. Throws Error{out_of_memory}.
    KPointRows(const KPointTables& tables, std::int64_t max_frames)
        : tables_(tables), points_(max_frames * tables.transform() * std::int64_t{sizeof(float4)}) {}

    // Of at most `max_frames` acquired B-scans. Enqueues on the stream unless they are there already.
    KPoints enqueue(cudaStream_t stream, LineForm form, const DeviceBackground& background, std::int64_t frames);

  private:
    const KPointTables& tables_;
    DeviceBuffer points_;
    LineForm form_ = LineForm::subtracted;
    bool lasting_ = false;  // the points hold for any block of that form
};

}  // namespace echolux::cuda
