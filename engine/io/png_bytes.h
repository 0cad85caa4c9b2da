// Fast PNG encoding in memory, for pictures that a network client is waiting for. Speed is preferred over size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace echolux {

enum class Alpha { dropped, kept };  // dropped: writes RGB

// Encodes RGBA pixels, row by row from the top. `level` is zlib's: 1 is fast, 9 is small. Uses all threads. Throws
// Error{bad_setting, out_of_memory}.
std::vector<std::byte> png_bytes(std::span<const std::uint8_t> rgba, std::int64_t width, std::int64_t height,
                                 Alpha alpha, int level = 1);

}  // namespace echolux
