// The font file that CMake found, as bytes of the program.
#pragma once

#include <cstddef>

namespace echolux {

extern const unsigned char embedded_font[];
extern const std::size_t embedded_font_bytes;

}  // namespace echolux
