// Sets lines of text as glyphs, sharp at any size. Built without a font (ECHOLUX_TEXT) there is none, and annotations
// are lines alone.
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
    virtual ~Typesetter() = default;

    // Rims first. Nothing for text too small to be read.
    virtual std::vector<PlacedGlyph> set(const Label& label, const glm::vec3& rim) = 0;
};

// Null: this build has none.
std::unique_ptr<Typesetter> make_typesetter();

}  // namespace echolux
