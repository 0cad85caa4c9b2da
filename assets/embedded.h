// Interface to the code that cmake/EmbedAssets.cmake generates from the files in assets/CMakeLists.txt.
#pragma once

#include <cstddef>
#include <span>

namespace echolux {

struct EmbeddedFile {
    const char* path;
    const unsigned char* bytes;
    std::size_t size;
};

// In the order of assets/CMakeLists.txt.
std::span<const EmbeddedFile* const> embedded_files();

}  // namespace echolux
