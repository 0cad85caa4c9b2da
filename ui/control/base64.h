// Base64 (RFC 4648) for responses that hold a picture or voxels in their JSON.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace echolux {

// Returns the bytes as base64 with padding and without line breaks.
std::string base64_of(std::span<const std::byte> bytes);

}  // namespace echolux
