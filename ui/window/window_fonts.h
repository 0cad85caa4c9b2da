// The font files that CMake found, as bytes of the program.
#pragma once

#include <cstddef>

namespace echolux {

extern const unsigned char text_font[];
extern const std::size_t text_font_bytes;
extern const unsigned char strong_font[];
extern const std::size_t strong_font_bytes;
extern const unsigned char numbers_font[];
extern const std::size_t numbers_font_bytes;

}  // namespace echolux
