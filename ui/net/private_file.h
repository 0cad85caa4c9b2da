// Small files that only their owner may read: tokens and keys.
#pragma once

#include <filesystem>
#include <string_view>

namespace echolux {

// Writes text atomically and creates missing folders. The file is never readable by others. Throws Error{output}.
void write_private(const std::filesystem::path& path, std::string_view text);

}  // namespace echolux
