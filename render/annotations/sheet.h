// Shapes and texts drawn over a picture, in pixels from its top left corner. Each has a rim of contrasting colour, so
// that it stands out from any background.
#pragma once

#include <algorithm>
#include <cstdint>
#include <glm/vec2.hpp>
#include <glm/vec3.hpp>
#include <glm/vec4.hpp>
#include <memory>
#include <string>
#include <vector>

#include "render/view/view.h"
#include "shaders/shared/annotate.h"

namespace echolux {

// A line of text. `anchor` is the point of its bounding box at `at`: (0, 0) top left, (1, 1) bottom right.
struct Label {
    std::string text;  // UTF-8
    glm::dvec2 at;
    glm::dvec2 anchor;
    glm::vec3 colour;
    double size;  // em, in pixels
};

class Sheet {
  public:
    explicit Sheet(const View& view);

    // Lengths in pixels, and colours.
    glm::dvec2 size() const { return size_; }
    double em() const { return em_; }  // size of the text
    double margin() const { return em_ + frame_; }
    double top() const { return em_ + std::max(frame_, band_); }  // below a title
    double frame() const { return frame_; }                       // width; 0 without a frame
    double band() const { return band_; }                         // height of the title's band; 0 without a title
    double line_width() const { return line_width_; }
    glm::vec3 ink() const { return ink_; }
    glm::vec3 rim() const { return rim_; }

    void line(const glm::dvec2& from, const glm::dvec2& to, const glm::vec3& colour);
    void line(const glm::dvec2& from, const glm::dvec2& to) { line(from, to, ink_); }
    void wide_line(const glm::dvec2& from, const glm::dvec2& to, double widths,
                   const glm::vec4& colour);  // without a rim
    void arrow(const glm::dvec2& from, const glm::dvec2& to, const glm::vec3& colour);
    void rectangle(const glm::dvec2& low, const glm::dvec2& high, const glm::vec3& colour);  // without a rim
    void rimmed_rectangle(const glm::dvec2& low, const glm::dvec2& high, const glm::vec3& colour);
    void label(std::string text, const glm::dvec2& at, const glm::dvec2& anchor, const glm::vec3& colour);
    void label(std::string text, const glm::dvec2& at, const glm::dvec2& anchor) {
        label(std::move(text), at, anchor, ink_);
    }

    // Returns the vertical shift in pixels of a new block that avoids the blocks reserved before. It moves down if
    // `down` is positive, else up, or the other way if there is no room. Returns 0 if there is no room at all.
    double make_room(const glm::dvec2& low, const glm::dvec2& high, double down);
    // Returns an estimate of the size of a line of text, without access to the font.
    glm::dvec2 size_of(const std::string& text) const;

    const std::vector<shared::Shape>& shapes() const { return shapes_; }
    const std::vector<Label>& labels() const { return labels_; }
    bool is_empty() const { return shapes_.empty() && labels_.empty(); }

  private:
    void add_line(const glm::dvec2& from, const glm::dvec2& to, double width, const glm::vec4& colour);

    glm::dvec2 size_;
    double em_;
    double line_width_;
    double frame_, band_;
    glm::vec3 ink_, rim_;
    struct Block {
        glm::dvec2 low, high;
    };
    std::vector<Block> blocks_;
    std::vector<shared::Shape> shapes_;
    std::vector<Label> labels_;
};

// ---- Typesets lines of text as antialiased glyphs at any size. Builds without a font (without ECHOLUX_TEXT) have no
// typesetter, and their annotations contain lines only.

// Coverage of a glyph or of its rim, 0 to 255.
struct GlyphPixels {
    glm::ivec2 size{0};
    glm::ivec2 offset{0};  // from the pen's pixel to the top left pixel, right and down
    std::vector<std::uint8_t> coverage;
};

struct SheetGlyph {
    const GlyphPixels* pixels;  // owned by the typesetter
    glm::ivec2 left_top;        // pixel of the picture
    glm::vec4 colour;
};

class Typesetter {
  public:
    virtual ~Typesetter() = default;

    // Returns the glyphs of a line, rims first so that letters cover them. Empty for text too small to read.
    virtual std::vector<SheetGlyph> set(const Label& label, const glm::vec3& rim) = 0;
};

// Returns null in builds without text.
std::unique_ptr<Typesetter> make_typesetter();

// Typesetter for the embedded font (Inter), only in builds with text. Defined in text/inter_typesetter.cpp.
std::unique_ptr<Typesetter> make_inter_typesetter();

}  // namespace echolux
