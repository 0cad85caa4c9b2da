// Interface of a method on the GPU: converts raw lines to complex depth bins or byte codes on one stream. Each worker
// owns one with its buffers; tables are shared. The bits of a line's bins do not depend on its position among others.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "compute/choose_path.h"
#include "compute/plan/tables.h"
#include "compute/steps/sample.h"

namespace echolux::cuda {

// Backgrounds of the B-scans of a block: whole + rest, [rows][samples] each (see compute/cpu/background.h).
struct DeviceBackground {
    const float* whole = nullptr;
    const float* rest = nullptr;
    std::int64_t frame_lines = 0;  // lines per row; 0: a single row for all
    std::int64_t samples = 0;
    std::int64_t first_line = 0;  // line of the block that is line 0 of a kernel

    // Returns the backgrounds for a kernel that starts `lines` lines later.
    DeviceBackground from(std::int64_t lines) const {
        DeviceBackground later = *this;
        later.first_line += lines;
        return later;
    }

    // Returns the background of line 0 alone, for lines that all share it.
    DeviceBackground of_first_line() const {
        const std::int64_t row = frame_lines == 0 ? 0 : first_line / frame_lines * samples;
        return {whole + row, rest + row, 0, samples, 0};
    }

#ifdef __CUDACC__
    // Returns the offset of the line's row.
    __device__ std::int64_t row(std::int64_t line) const {
        return frame_lines == 0 ? 0 : (first_line + line) / frame_lines * samples;
    }
#endif
};

// Contiguous lines as recorded.
struct RawLines {
    const std::byte* raw = nullptr;  // device memory, or mapped host memory
    std::int64_t count = 0;
    std::int64_t number = 0;  // number of the first line in the recording, in temporal order, without flyback
    DeviceBackground background;

    // Returns up to `at_once` lines starting at `from`.
    RawLines part(std::int64_t from, std::int64_t at_once, std::int64_t line_bytes) const {
        return {raw + from * line_bytes, std::min(at_once, count - from), number + from, background.from(from)};
    }
};

// A half-precision depth bin for flow displayed in eight bits, scaled by a power of two. Its phase is accurate to 5e-4
// rad, even for bins much weaker than others.
struct HalfBin {
    __half2 parts;  // real and imaginary
};

// Kept depth bins of line l, unscaled: first[l * stride + z].
template <class Bin>
struct BinsOf {
    Bin* first = nullptr;
    std::int64_t stride = 0;
};
using DeviceBins = BinsOf<float2>;

struct ByteCodes;

// Interface of all GPU methods. Used by one thread.
class LineMethod {
  public:
    virtual ~LineMethod() = default;

    // Returns the max lines per call.
    virtual std::int64_t lines_at_once() const = 0;

    // Enqueues on the method's stream. The bins are valid until the work of the next call starts.
    virtual DeviceBins enqueue(const RawLines& lines) = 0;

    // Converts any number of lines to codes without storing bins. Returns false and does nothing if not supported.
    virtual bool enqueue_codes(const RawLines& /*lines*/, const ByteCodes& /*codes*/) { return false; }
};

// ---- Creates the GPU method of a spec and its tables, except for the fused kernel.

// Creates a method for a worker's stream. Copies share the tables.
using LineMethodMaker = std::function<std::unique_ptr<LineMethod>(cudaStream_t)>;

// Creates the methods of a valid spec. `plain` must outlive them. Calls will have up to about `max_lines` lines. Throws
// Error{device, out_of_memory}.
LineMethodMaker line_methods(const ReconstructionSpec& spec, const PlainTables& plain, const LineFormat& format,
                             DepthRange kept, std::int64_t max_lines, const GpuPath& path);

}  // namespace echolux::cuda
