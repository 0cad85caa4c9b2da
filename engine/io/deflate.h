// Deflate compression in memory, framed as zlib (TIFF, Zarr) or gzip (Zarr).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace echolux {

enum class DeflateFrame { zlib, gzip };

// Compresses `bytes`. `level` is zlib's: 0 to 9, or -1 for its default. Throws only std::bad_alloc.
std::vector<std::byte> deflated(std::span<const std::byte> bytes, DeflateFrame frame, int level);

// Decompresses data in either frame. Returns std::nullopt if the data is damaged or does not have exactly `size` bytes.
std::optional<std::vector<std::byte>> inflated(std::span<const std::byte> packed, std::size_t size);

}  // namespace echolux
