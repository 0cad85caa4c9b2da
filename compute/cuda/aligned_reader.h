// Readers for kernels. Lines mostly start at multiples of four bytes; told so, the compiler loads whole samples instead
// of single bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/steps/line_format.h"

namespace echolux::cuda {

template <class Read, int bytes = 4>
struct AlignedReader {
    Read read;

    // Of both sides, so that the host knows its type too.
    ECHOLUX_HD auto operator()(const std::byte* line, std::int64_t p) const {
        return read(static_cast<const std::byte*>(__builtin_assume_aligned(line, bytes)), p);
    }
};

// Calls use(read) with the reader that fits the format and where the lines lie.
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

// What a reader gives.
template <class Read>
using SampleOf = std::remove_cvref_t<decltype(std::declval<Read>()(nullptr, 0))>;

}  // namespace echolux::cuda
