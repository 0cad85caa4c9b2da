// Typesets lines of text as antialiased glyphs at any size. Builds without a font (without ECHOLUX_TEXT) have no
// typesetter, and their annotations contain lines only.
#pragma once

#include <cstdint>
#include <glm/vec2.hpp>
#include <memory>
#include <vector>

#include "render/annotations/sheet.h"

namespace echolux {

// Coverage of a glyph or of its rim, 0 to 255.
struct GlyphPixels {
    glm::ivec2 size{0};
    glm::ivec2 offset{0};  // from the pen's pixel to the top left pixel, right and down
    std::vector<std::uint8_t> coverage;
};

struct PlacedGlyph {
    const GlyphPixels* pixels;  // owned by the typesetter
    glm::ivec2 left_top;        // pixel of the picture
    glm::vec4 colour;
};

class Typesetter {
  public:
    virtual ~Typesetter() = default;

    // Returns the glyphs of a line, rims first so that letters cover them. Empty for text too small to read.
    virtual std::vector<PlacedGlyph> set(const Label& label, const glm::vec3& rim) = 0;
};

// Returns null in builds without text.
std::unique_ptr<Typesetter> make_typesetter();

}  // namespace echolux
