// Lines whose transform does not fit into a thread block, from 8193 to 65536 points (long-range swept sources): the
// four-step transform (D. H. Bailey, J. Supercomputing 4, 23, 1990). With n = A B points, the first pass computes B
// transforms of A points, each over every B-th point, and the second pass A transforms of B points. The first pass
// resamples points while reading; the second outputs codes or depth bins. Between raw samples and byte codes, every
// point is therefore written and read once, while it is still in the L2 cache.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/cuda/k_points.h"
#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/transform.h"
#include "compute/on_chip.h"
#include "compute/plan/tables.h"
#include "compute/steps/sample.h"

namespace echolux::cuda {

// Returns the factors between the passes for bin k of transform c of the first pass: [first.n][second.n].
std::vector<float2> two_pass_twiddles(const TwoPassLength& length);

struct TwoPassWork;

// Tables on the device, shared by all workers.
class TwoPassTables {
  public:
    // The length must fit (two_pass_length()). Uploads to the current device. Throws Error{device, out_of_memory}.
    TwoPassTables(const PlainTables& tables, DepthRange kept);

  private:
    friend class TwoPassLines;

    TwoPassLength length_;
    DepthRange kept_;
    KPointTables points_;
    DeviceBuffer first_twiddles_;
    DeviceBuffer second_twiddles_;
    DeviceBuffer between_;
};

// Transforms batches of lines on one stream.
class TwoPassLines : public LineMethod {
  public:
    // The tables must outlive this object. Throws Error{device, out_of_memory}.
    TwoPassLines(const TwoPassTables& tables, const LineFormat& format, std::int64_t max_lines, cudaStream_t stream);

    std::int64_t lines_at_once() const override { return lines_at_once_; }
    DeviceBins enqueue(const RawLines& lines) override;
    bool enqueue_codes(const RawLines& lines, const ByteCodes& codes) override;

  private:
    TwoPassWork work(const RawLines& lines) const;
    template <class Use>
    void in_pieces(const RawLines& lines, const Use& use) const;
    void enqueue_passes(const TwoPassWork& work) const;

    const TwoPassTables& tables_;
    LineFormat format_;
    cudaStream_t stream_;
    std::int64_t lines_at_once_;
    DeviceBuffer points_;  // data between the passes
    DeviceBuffer bins_;    // complex [lines][depth]
};

}  // namespace echolux::cuda
