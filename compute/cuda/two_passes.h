// Lines whose transform no block of threads can hold, of 8193 to 65536 points (swept sources of long range): the
// four-step transform (D. H. Bailey, J. Supercomputing 4, 23, 1990). With n = A B points, the first pass makes B
// transforms of A points, each of every B-th point; the second A transforms of B. Points are resampled as the first
// reads them and become codes or depth bins as the second makes them, so that between raw samples and byte codes every
// point is written and read once, while the second-level cache still has it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compute/cuda/k_points.h"
#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/mixed_radix.h"
#include "compute/plan/plan_tables.h"
#include "compute/steps/line_format.h"

namespace echolux::cuda {

// Transforms of both passes.
struct TwoPassLength {
    static constexpr int columns = 16;         // transforms of a block of threads
    static constexpr int pitch = columns + 1;  // in shared memory, points: none meet in a bank, whichever way they go

    MixedRadix first;
    MixedRadix second;

    ECHOLUX_HD int n() const { return first.n * second.n; }

    // Of a block: its points, and in the second pass the codes of two lines.
    static int shared_bytes(const MixedRadix& transform) { return transform.n * pitch * 16; }
    int code_bytes() const { return 2 * code_rows() * columns; }
    ECHOLUX_HD int code_rows() const { return (second.n + 1) / 2; }
};

// Nothing for lengths of up to 8192 points, and where the factors are too large or the blocks of the current device too
// small.
std::optional<TwoPassLength> two_pass_length(std::int64_t n);

// The same wherever shared memory allows so much.
std::optional<TwoPassLength> two_pass_length(std::int64_t n, std::int64_t max_shared_bytes);

// What bin k of the first pass's transform c is multiplied by: [first.n][second.n].
std::vector<float2> two_pass_twiddles(const TwoPassLength& length);

struct TwoPassWork;

// Tables on the device, shared by all workers.
class TwoPassTables {
  public:
    static bool fits(const PlainTables& tables);

    // Of tables that fit, on the current device. Throws Error{device, out_of_memory}.
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

class TwoPassLines : public LineMethod {
  public:
    // The tables live longer. Throws Error{device, out_of_memory}.
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
    DeviceBuffer points_;  // between the passes
    DeviceBuffer bins_;    // complex [lines][depth]
};

}  // namespace echolux::cuda
