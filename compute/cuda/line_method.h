// A method on the GPU: raw lines in, their complex depth bins or byte codes out, on one stream. Each worker owns one
// with its work buffers; tables are shared. A line's bins have the same bits wherever it stands among others.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace echolux::cuda {

// Backgrounds as found for the B-scans of a block: whole + rest, [rows][samples] each (see compute/cpu/background.h).
struct DeviceBackground {
    const float* whole = nullptr;
    const float* rest = nullptr;
    std::int64_t frame_lines = 0;  // lines that share a row; 0: there is one row for all
    std::int64_t samples = 0;
    std::int64_t first_line = 0;  // of the block, that line 0 of a kernel is

    DeviceBackground from(std::int64_t lines) const {
        DeviceBackground later = *this;
        later.first_line += lines;
        return later;
    }

    // That of line 0 alone, for lines that all share it.
    DeviceBackground of_first_line() const {
        const std::int64_t row = frame_lines == 0 ? 0 : first_line / frame_lines * samples;
        return {whole + row, rest + row, 0, samples, 0};
    }

#ifdef __CUDACC__
    // Offset of the line's row.
    __device__ std::int64_t row(std::int64_t line) const {
        return frame_lines == 0 ? 0 : (first_line + line) / frame_lines * samples;
    }
#endif
};

// Lines as recorded, one after the other.
struct RawLines {
    const std::byte* raw = nullptr;  // device memory, or mapped host memory
    std::int64_t count = 0;
    std::int64_t number = 0;  // of the first in the recording, in the order of time, flyback left out
    DeviceBackground background;

    // At most `at_once` of them from the one `from` on.
    RawLines part(std::int64_t from, std::int64_t at_once, std::int64_t line_bytes) const {
        return {raw + from * line_bytes, std::min(at_once, count - from), number + from, background.from(from)};
    }
};

// A depth bin for flow that is shown in eight bits, multiplied by a power of two: a phase is then known to 5e-4 rad,
// however weak the bin is beside others.
struct HalfBin {
    __half2 parts;  // real and imaginary
};

// Kept depth bins of line l: first[l * stride + z], not yet scaled.
template <class Bin>
struct BinsOf {
    Bin* first = nullptr;
    std::int64_t stride = 0;
};
using DeviceBins = BinsOf<float2>;

struct ByteCodes;

class LineMethod {
  public:
    virtual ~LineMethod() = default;

    // Most lines of one call.
    virtual std::int64_t lines_at_once() const = 0;

    // Enqueues on the method's stream; the bins are valid until the next call's work begins.
    virtual DeviceBins enqueue(const RawLines& lines) = 0;

    // Any number of lines to codes, without bins in memory. False: the method cannot, and nothing has been done.
    virtual bool enqueue_codes(const RawLines& /*lines*/, const ByteCodes& /*codes*/) { return false; }
};

}  // namespace echolux::cuda
