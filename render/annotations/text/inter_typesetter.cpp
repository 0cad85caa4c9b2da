// Typesetter for the embedded font (Inter). HarfBuzz shapes the text, including kerning, and FreeType renders it at the
// exact size.
#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_GLYPH_H
#include FT_OUTLINE_H
#include FT_STROKER_H
#include <hb-ft.h>

#include <cmath>
#include <map>
#include <tuple>

#include "assets/assets.h"
#include "compute/error.h"
#include "render/annotations/sheet.h"

namespace echolux {
namespace {

constexpr double min_size = 4;     // pixels
constexpr double max_size = 1024;  // pixels: limits the memory for glyphs
constexpr int fractions = 4;       // subpixel positions of a glyph
constexpr double rim_per_em = 0.1;
constexpr float rim_opacity = 0.6F;
constexpr auto light = FT_LOAD_TARGET_LIGHT;  // only hints heights: stems stay where the shaper puts them

// Throws Error{device} for a FreeType error.
void need(FT_Error error, const char* what) {
    if (error == 0) return;
    throw Error(ErrorCode::device, "FreeType refuses: " + std::string(what), "renderer");
}

// Deleters of the handles of FreeType and HarfBuzz.
struct Destroy {
    void operator()(FT_Library library) const { FT_Done_FreeType(library); }
    void operator()(FT_Face face) const { FT_Done_Face(face); }
    void operator()(FT_Stroker stroker) const { FT_Stroker_Done(stroker); }
    void operator()(FT_Glyph glyph) const { FT_Done_Glyph(glyph); }
    void operator()(hb_font_t* font) const { hb_font_destroy(font); }
    void operator()(hb_buffer_t* buffer) const { hb_buffer_destroy(buffer); }
};
template <class T>
using Owned = std::unique_ptr<std::remove_pointer_t<T>, Destroy>;

Owned<FT_Library> opened_library() {
    FT_Library library = nullptr;
    need(FT_Init_FreeType(&library), "to start");
    return Owned<FT_Library>(library);
}

// FreeType reads the embedded font in place.
Owned<FT_Face> opened_face(FT_Library library) {
    FT_Face face = nullptr;
    const std::string_view font = shipped_file("fonts/picture");
    need(FT_New_Memory_Face(library, reinterpret_cast<const FT_Byte*>(font.data()), static_cast<FT_Long>(font.size()),
                            0, &face),
         "the font");
    return Owned<FT_Face>(face);
}

Owned<FT_Stroker> create_stroker(FT_Library library) {
    FT_Stroker stroker = nullptr;
    need(FT_Stroker_New(library, &stroker), "a stroker");
    return Owned<FT_Stroker>(stroker);
}

// Copies the bitmap row by row, because its rows may be padded (pitch).
GlyphPixels pixels_of(FT_BitmapGlyph glyph) {
    const FT_Bitmap& bitmap = glyph->bitmap;
    GlyphPixels pixels{{bitmap.width, bitmap.rows}, {glyph->left, -glyph->top}, {}};
    for (unsigned row = 0; row < bitmap.rows; ++row) {
        const unsigned char* first = bitmap.buffer + static_cast<std::ptrdiff_t>(row) * bitmap.pitch;
        pixels.coverage.insert(pixels.coverage.end(), first, first + bitmap.width);
    }
    return pixels;
}

struct ShapedGlyph {
    std::uint32_t index;
    glm::dvec2 pen;  // pixels from the start of the line, y down
};

struct ShapedLine {
    std::vector<ShapedGlyph> glyphs;
    double width = 0;
};

class InterTypesetter final : public Typesetter {
  public:
    std::vector<SheetGlyph> set(const Label& label, const glm::vec3& rim) override {
        if (label.size < min_size) return {};
        set_size(static_cast<int>(std::lround(64 * std::min(label.size, max_size))));
        const FT_Size_Metrics& metrics = face_->size->metrics;
        const double ascender = static_cast<double>(metrics.ascender) / 64;
        const double height = ascender - static_cast<double>(metrics.descender) / 64;
        const ShapedLine line = shaped(label.text);
        const glm::dvec2 begin = label.at - label.anchor * glm::dvec2(line.width, height);
        // The baseline is a whole pixel row, which keeps horizontal stems sharp.
        const int base = static_cast<int>(std::lround(begin.y + ascender));
        std::vector<SheetGlyph> placed;
        for (const bool is_rim : {true, false}) {
            const glm::vec4 colour = is_rim ? glm::vec4(rim, rim_opacity) : glm::vec4(label.colour, 1);
            for (const auto& [index, pen] : line.glyphs) {
                const double x = std::floor(fractions * (begin.x + pen.x) + 0.5) / fractions;
                const int whole = static_cast<int>(std::floor(x));
                const auto fraction = static_cast<int>(fractions * (x - whole));
                const GlyphPixels& pixels = pixels_for(index, fraction, is_rim);
                const glm::ivec2 at(whole, base + static_cast<int>(std::lround(pen.y)));
                if (!pixels.coverage.empty()) placed.push_back({&pixels, at + pixels.offset, colour});
            }
        }
        return placed;
    }

  private:
    using Key = std::tuple<std::uint32_t, int, int, bool>;  // glyph, size in 1/64 pixel, subpixel position, rim

    Owned<FT_Library> library_ = opened_library();
    Owned<FT_Face> face_ = opened_face(library_.get());
    Owned<FT_Stroker> stroker_ = create_stroker(library_.get());
    Owned<hb_font_t*> font_{hb_ft_font_create_referenced(face_.get())};
    std::map<Key, GlyphPixels> glyphs_;
    int size_ = 0;

    // FreeType and HarfBuzz measure in 1/64 pixel.
    void set_size(int wanted) {
        if (wanted == size_) return;
        size_ = wanted;
        need(FT_Set_Char_Size(face_.get(), 0, size_, 72, 72), "a size");
        hb_ft_font_changed(font_.get());
        hb_ft_font_set_load_flags(font_.get(), FT_LOAD_NO_HINTING);
    }

    // Shapes without hinting, so that advances scale linearly with the size.
    ShapedLine shaped(const std::string& text) const {
        const Owned<hb_buffer_t*> buffer(hb_buffer_create());
        hb_buffer_add_utf8(buffer.get(), text.data(), static_cast<int>(text.size()), 0, -1);
        hb_buffer_guess_segment_properties(buffer.get());
        hb_shape(font_.get(), buffer.get(), nullptr, 0);
        unsigned count = 0;
        const hb_glyph_info_t* facts = hb_buffer_get_glyph_infos(buffer.get(), &count);
        const hb_glyph_position_t* places = hb_buffer_get_glyph_positions(buffer.get(), &count);
        ShapedLine line;
        for (unsigned i = 0; i < count; ++i) {
            line.glyphs.push_back(
                {facts[i].codepoint, {line.width + places[i].x_offset / 64.0, -places[i].y_offset / 64.0}});
            line.width += places[i].x_advance / 64.0;
        }
        return line;
    }

    // Renders a glyph at a subpixel position, or its outline stroked to a rim.
    GlyphPixels drawn(std::uint32_t index, int fraction, bool is_rim) {
        need(FT_Load_Glyph(face_.get(), index, light), "a glyph");
        FT_Outline_Translate(&face_->glyph->outline, 64 * fraction / fractions, 0);
        FT_Glyph glyph = nullptr;
        need(FT_Get_Glyph(face_->glyph, &glyph), "a glyph");
        if (is_rim) {
            const auto radius = static_cast<FT_Fixed>(std::max(64.0, rim_per_em * size_));
            FT_Stroker_Set(stroker_.get(), radius, FT_STROKER_LINECAP_ROUND, FT_STROKER_LINEJOIN_ROUND, 0);
            need(FT_Glyph_Stroke(&glyph, stroker_.get(), 1), "a rim");
        }
        need(FT_Glyph_To_Bitmap(&glyph, FT_RENDER_MODE_NORMAL, nullptr, 1), "to draw");
        const Owned<FT_Glyph> owner(glyph);
        return pixels_of(reinterpret_cast<FT_BitmapGlyph>(glyph));
    }

    // Glyphs are cached for the lifetime of the typesetter.
    const GlyphPixels& pixels_for(std::uint32_t index, int fraction, bool is_rim) {
        const Key key{index, size_, fraction, is_rim};
        const auto found = glyphs_.find(key);
        if (found != glyphs_.end()) return found->second;
        return glyphs_.emplace(key, drawn(index, fraction, is_rim)).first->second;
    }
};

}  // namespace

std::unique_ptr<Typesetter> make_inter_typesetter() {
    return std::make_unique<InterTypesetter>();
}

}  // namespace echolux
