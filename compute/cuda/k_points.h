// The points of the uniform k grid as the fused kernel wants them: between which samples each lies, its weight, and
// what the background comes to there. Interpolation is linear in the samples, so a background may as well be taken off
// afterwards: once interpolated it serves all lines of its B-scan, and the samples go into the kernel as recorded.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/plan/plan_tables.h"

namespace echolux::cuda {

// How the kernel takes lines.
struct LineForm {
    bool as_recorded = false;  // by whole words, with their background; else it has been subtracted from the samples
    bool two_in_one = false;   // two lines are one complex transform: for real weights and LagrangeCubic

    bool operator==(const LineForm&) const = default;
};

struct KPoints {
    LineForm form;
    const std::uint16_t* base = nullptr;  // [transform]: first of four samples
    const float4* taps = nullptr;         // [transform]: their weights; null: LagrangeCubic
    // [rows][transform]: offset from sample base + 1 (where there are no taps); minus the background; real and
    // imaginary part of the weight, or half the weight and the bits of `base` where two lines are one transform.
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
    // For tables of up to four taps. Throws Error{out_of_memory}.
    explicit KPointTables(const PlainTables& tables);

    std::int64_t transform() const { return transform_; }
    bool real() const { return real_; }

    const std::uint16_t* base() const { return base_.as<std::uint16_t>(); }
    const float* offset() const { return offset_.as<float>(); }
    const float4* taps() const { return taps_.as<float4>(); }  // null: LagrangeCubic at the offset
    const float2* weight() const { return weight_.as<float2>(); }

  private:
    std::int64_t transform_;
    bool real_;
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
    KPoints enqueue(cudaStream_t stream, const LineForm& form, const DeviceBackground& background, std::int64_t frames);

  private:
    const KPointTables& tables_;
    DeviceBuffer points_;
    LineForm form_;
    bool lasting_ = false;  // the points hold for any block of that form
};

}  // namespace echolux::cuda
