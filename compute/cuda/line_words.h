// Identifies lines that kernels read by whole words rather than sample by sample: little-endian, one channel, without
// shift and mask, as streamed by fast instruments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "compute/steps/sample.h"

namespace echolux::cuda {

enum class LineWords { none, u16, packed12 };

// Considers the format only.
inline LineWords format_words(const LineFormat& format) {
    LineWords words = LineWords::none;
    format.with_reader([&](const auto& read) {
        using Read = std::remove_cvref_t<decltype(read)>;
        if (read.shift != 0 || read.mask != 0xffffffffu) return;
        if constexpr (std::is_same_v<Read, ReadSample<SampleFormat::u16, ByteOrder::little, UnitStride>>) {
            words = LineWords::u16;
        } else if constexpr (std::is_same_v<Read, ReadSample<SampleFormat::packed12, ByteOrder::little, UnitStride>>) {
            words = LineWords::packed12;
        }
    });
    return words;
}

// Returns whether every line is aligned to `bytes` bytes.
inline bool lie_at(const LineFormat& format, const std::byte* raw, std::uint64_t bytes) {
    return (reinterpret_cast<std::uintptr_t>(raw) | static_cast<std::uint64_t>(format.line_bytes())) % bytes == 0;
}

// Returns how lines can be read in 32-bit words. Requires aligned lines with a whole number of words.
inline LineWords line_words(const LineFormat& format, const std::byte* raw) {
    const LineWords words = format_words(format);
    const int samples_together = words == LineWords::packed12 ? 8 : 2;
    return lie_at(format, raw, 4) && format.samples() % samples_together == 0 ? words : LineWords::none;
}

}  // namespace echolux::cuda
