// A method on the CPU: a few raw lines in, their complex depth bins out. Each worker thread owns one with its buffers;
// tables are shared. A line's bins depend on nothing but its samples and its background.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>

#include "compute/cpu/background.h"

namespace echolux::cpu {

struct RawLine {
    const std::byte* samples;
    BackgroundLine background;
    std::int64_t number = 0;  // of the recording, in the order of time, flyback left out
};

class LineMethod {
  public:
    virtual ~LineMethod() = default;

    // Most lines of one call: more than one where they share the work of reading a table.
    virtual std::int64_t lines_at_once() const = 0;

    // The kept depth bins of each line, not yet scaled; valid until the next call.
    virtual std::span<const std::complex<float>* const> reconstruct(std::span<const RawLine> lines) = 0;
};

}  // namespace echolux::cpu
