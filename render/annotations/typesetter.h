// Sets lines of text in the program's own font (Inter, embedded when the program is built): shaped by HarfBuzz, which
// knows kerning, and drawn by FreeType at the exact size, so that text is sharp at any. Built without a font it sets
// nothing.
#pragma once

#include <cstdint>
#include <glm/vec2.hpp>
#include <memory>
#include <vector>

#include "render/annotations/sheet.h"

namespace echolux {

// The pixels of a glyph or of its rim: 255 is covered in full.
struct GlyphPixels {
    glm::ivec2 size{0};
    glm::ivec2 offset{0};  // of the left top pixel from the pen's pixel, right and down
    std::vector<std::uint8_t> coverage;
};

struct PlacedGlyph {
    const GlyphPixels* pixels;  // as long as the typesetter lives
    glm::ivec2 left_top;        // in the picture
    glm::vec4 colour;
};

class Typesetter {
  public:
    Typesetter();
    ~Typesetter();
    Typesetter(const Typesetter&) = delete;
    Typesetter& operator=(const Typesetter&) = delete;

    // Rims first. Nothing for text too small to be read.
    std::vector<PlacedGlyph> set(const Label& label, const glm::vec3& rim);

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
