// A-scans whose spectrum holds an invalid sample: NaN, infinite, or so large that its power would overflow.
// Only f32 spectra can hold such samples. These A-scans have no value in volumes and are left out of all means.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "compute/plan/params.h"
#include "compute/steps/sample.h"
#include "compute/voxel_target.h"

namespace echolux {

// Returns whether `line` of `samples` samples holds such a sample. Integer samples never do.
template <class Read>
bool has_invalid_sample(const Read&, const std::byte*, std::int64_t) {
    return false;
}
template <ByteOrder order, class Stride>
bool has_invalid_sample(const ReadSample<SampleFormat::f32, order, Stride>& read, const std::byte* line,
                        std::int64_t samples) {
    bool is_invalid = false;
    for (std::int64_t p = 0; p < samples; ++p) {
        float value;
        std::memcpy(&value, line + read.stride(p) * static_cast<std::int64_t>(sizeof value), sizeof value);
        if constexpr (order == ByteOrder::big) value = swapped_bytes(value);
        is_invalid |= !(std::abs(value) < largest_f32_sample);
    }
    return is_invalid;
}

// Sets flags[line] to 1 for these lines of a block and to 0 for the others. Returns the number of these lines. For
// integer samples returns 0 and leaves `flags` empty. The block must be in host memory.
std::int64_t find_invalid_lines(const RawFormat& format, const ScanGeometry& geometry, const Block& block,
                                std::vector<std::uint8_t>& flags);

}  // namespace echolux
