// Bytes packed and unpacked in memory by deflate, framed as zlib (TIFF, Zarr) or gzip (Zarr) do.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace echolux {

enum class DeflateFrame { zlib, gzip };

// Throws std::bad_alloc only.
std::vector<std::byte> deflated(std::span<const std::byte> bytes, DeflateFrame frame, int level);

// Either frame. Exactly `size` bytes; nothing: damaged, or another size.
std::optional<std::vector<std::byte>> inflated(std::span<const std::byte> packed, std::size_t size);

}  // namespace echolux
