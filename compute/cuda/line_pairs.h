// Raw lines as kernels read them: in words, in aligned samples, in pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "compute/cuda/line_method.h"
#include "compute/host_device.h"
#include "compute/on_chip.h"
#include "compute/steps/sample.h"

namespace echolux::cuda {

// Sample reader for kernels. Lines usually start at multiples of four bytes. Stating this alignment lets the compiler
// load whole samples rather than single bytes.
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

// ---- Pairs of lines that one thread block processes together, so that each table access serves both. Both lines share
// a row of the background, so a B-scan with an odd number of lines ends with a single line.

// Maps pair indices to lines. Passed to kernels by value.
class LinePairs {
  public:
    struct Pair {
        int a = -1;  // negative: no line
        int b = -1;  // equals `a` for a single line
    };

    LinePairs() = default;

    // Pairs the lines of one kernel.
    LinePairs(std::int64_t lines, const DeviceBackground& background) : lines_(static_cast<int>(lines)) {
        const bool one_row = background.frame_lines == 0;
        row_lines_ = one_row ? lines_ : static_cast<int>(background.frame_lines);
        before_ = one_row ? 0 : static_cast<int>(background.first_line % background.frame_lines);
        pairs_of_a_row_ = (row_lines_ + 1) / 2;
    }

    // Returns the number of pairs, some of which may be empty.
    unsigned count() const {
        return static_cast<unsigned>((before_ + lines_ + row_lines_ - 1) / row_lines_ * pairs_of_a_row_);
    }

    ECHOLUX_HD Pair at(unsigned index) const {
        const int row = static_cast<int>(index) / pairs_of_a_row_;
        const int first = row * row_lines_ - before_;
        const int end = first + row_lines_ < lines_ ? first + row_lines_ : lines_;
        const int a = first + 2 * (static_cast<int>(index) - row * pairs_of_a_row_);
        if (a >= end) return {};
        const int b = a + 1 < end ? a + 1 : a;
        return {a < 0 ? b : a, b};
    }

  private:
    int lines_ = 0;
    int row_lines_ = 1;
    int before_ = 0;  // lines of the first row before line 0
    int pairs_of_a_row_ = 1;
};

}  // namespace echolux::cuda
