// Bytes as text (RFC 4648), for answers that hold a picture or voxels in their JSON.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace echolux {

std::string base64_of(std::span<const std::byte> bytes);

}  // namespace echolux
