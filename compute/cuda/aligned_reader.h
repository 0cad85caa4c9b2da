// Sample readers for kernels. Lines usually start at multiples of four bytes. Stating this alignment lets the compiler
// load whole samples rather than single bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/steps/sample.h"

namespace echolux::cuda {

template <class Read, int bytes = 4>
struct AlignedReader {
    Read read;

    // Compiled for both sides, so that the host can deduce the return type.
    ECHOLUX_HD auto operator()(const std::byte* line, std::int64_t p) const {
        return read(static_cast<const std::byte*>(__builtin_assume_aligned(line, bytes)), p);
    }
};

// Calls use(read) with the reader that matches the format and the alignment of the lines.
template <class Use>
void with_reader(const LineFormat& format, const std::byte* raw, const Use& use) {
    const bool aligned = reinterpret_cast<std::uintptr_t>(raw) % 4 == 0 && format.line_bytes() % 4 == 0;
    format.with_reader([&](const auto& read) {
        if (aligned) {
            use(AlignedReader<std::remove_cvref_t<decltype(read)>>{read});
        } else {
            use(read);
        }
    });
}

// Return type of a reader.
template <class Read>
using SampleOf = std::remove_cvref_t<decltype(std::declval<Read>()(nullptr, 0))>;

}  // namespace echolux::cuda
