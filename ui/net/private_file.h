// Small files that nobody but their owner may read: tokens, keys.
#pragma once

#include <filesystem>
#include <string_view>

namespace echolux {

// Missing folders are made. The file is its owner's before anything is in it. Throws Error{output}.
void write_private(const std::filesystem::path& path, std::string_view text);

}  // namespace echolux
