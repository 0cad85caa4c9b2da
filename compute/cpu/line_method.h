// Interface of a method on the CPU: converts a few raw lines to complex depth bins. Each worker thread owns one with
// its buffers; tables are shared. The bins of a line depend only on its samples and background.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "compute/cpu/background.h"
#include "compute/plan/tables.h"

namespace echolux::cpu {

// A recorded line and its background.
struct RawLine {
    const std::byte* samples;
    BackgroundLine background;
    std::int64_t number = 0;  // in the recording, in temporal order, without flyback
};

// Interface of all CPU methods.
class LineMethod {
  public:
    virtual ~LineMethod() = default;

    // Returns the max lines per call. More than one if they share the cost of reading a table.
    virtual std::int64_t lines_at_once() const = 0;

    // Returns the kept depth bins of each line, unscaled. Valid until the next call.
    virtual std::span<const std::complex<float>* const> reconstruct(std::span<const RawLine> lines) = 0;
};

// Creates one method per thread. Owns the tables that they share.
using LineMethodMaker = std::function<std::unique_ptr<LineMethod>()>;

// Selects the method of a spec. No other code of the CPU backend depends on all methods. `plain` must outlive the
// result.
LineMethodMaker line_methods(const ReconstructionSpec& spec, const PlainTables& plain, const LineFormat& format,
                             DepthRange kept);

}  // namespace echolux::cpu
