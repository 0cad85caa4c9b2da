// Implements the paper with cairo, so that the same code draws all three formats.
#include "app/figure/drawing/paper.h"

#include <cairo-ft.h>
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numbers>
#include <vector>

#include "app/figure/figure_format.h"
#include "assets/assets.h"
#include "compute/error.h"
#include "engine/build.h"
#include "engine/io/atomic_file.h"

namespace echolux {
namespace {

constexpr double points_per_inch = 72;
constexpr double max_pixels = 32767;  // per side: cairo's limit

struct Destroy {
    void operator()(cairo_t* context) const { cairo_destroy(context); }
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
    void operator()(cairo_font_face_t* face) const { cairo_font_face_destroy(face); }
};
template <class T>
using Owned = std::unique_ptr<T, Destroy>;

void need(cairo_status_t status, const std::string& where) {
    if (status == CAIRO_STATUS_SUCCESS) return;
    const ErrorCode code = status == CAIRO_STATUS_NO_MEMORY ? ErrorCode::out_of_memory : ErrorCode::output;
    throw Error(code, fmt::format("cannot be drawn: {}", cairo_status_to_string(status)), where,
                "check folder, permissions and free space");
}

// Inter, which is embedded in the program. The FreeType face must live as long as cairo's.
cairo_font_face_t* inter() {
    static const Owned<cairo_font_face_t> face = [] {
        static FT_Library library = nullptr;
        FT_Face loaded = nullptr;
        const std::string_view font = shipped_file("fonts/picture");
        const bool is_there = FT_Init_FreeType(&library) == 0 &&
                              FT_New_Memory_Face(library, reinterpret_cast<const FT_Byte*>(font.data()),
                                                 static_cast<FT_Long>(font.size()), 0, &loaded) == 0;
        if (!is_there) throw Error(ErrorCode::out_of_memory, "the font cannot be read", "figure");
        return Owned<cairo_font_face_t>(cairo_ft_font_face_create_for_ft_face(loaded, FT_LOAD_NO_HINTING));
    }();
    return face.get();
}

void use_font(cairo_t* context, double size) {
    cairo_set_font_face(context, inter());
    cairo_set_font_size(context, size);
}

cairo_status_t write_to(void* stream, const unsigned char* bytes, unsigned int count) {
    auto& file = *static_cast<std::ofstream*>(stream);
    file.write(reinterpret_cast<const char*>(bytes), count);
    return file ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

// Converts to cairo's pixel format: 32 bits, native byte order, premultiplied alpha.
std::uint32_t argb(const std::uint8_t* pixel, int channels) {
    const std::uint32_t alpha = channels == 4 ? pixel[3] : 255;
    const auto part = [&](int channel) { return (pixel[channels == 1 ? 0 : channel] * alpha + 127) / 255; };
    return alpha << 24 | part(0) << 16 | part(1) << 8 | part(2);
}

Owned<cairo_surface_t> surface_of(const Picture& picture) {
    const cairo_format_t format = picture.channels == 4 ? CAIRO_FORMAT_ARGB32 : CAIRO_FORMAT_RGB24;
    Owned<cairo_surface_t> surface(
        cairo_image_surface_create(format, static_cast<int>(picture.width), static_cast<int>(picture.height)));
    need(cairo_surface_status(surface.get()), "figure");
    cairo_surface_flush(surface.get());
    unsigned char* rows = cairo_image_surface_get_data(surface.get());
    const int stride = cairo_image_surface_get_stride(surface.get());
    const std::uint8_t* pixel = picture.pixels.data();
    for (std::int64_t y = 0; y < picture.height; ++y) {
        for (std::int64_t x = 0; x < picture.width; ++x, pixel += picture.channels) {
            const std::uint32_t code = argb(pixel, picture.channels);
            std::memcpy(rows + y * stride + 4 * x, &code, sizeof code);
        }
    }
    cairo_surface_mark_dirty(surface.get());
    return surface;
}

}  // namespace

struct Paper::Drawing {
    Drawing(const std::filesystem::path& to, const Page& wanted)
        : path(to), page(wanted), format(figure_format_of(to)), file(to) {
        if (format != FigureFormat::png) stream.open(file.temporary(), std::ios::binary);
        surface.reset(made_surface());
        need(cairo_surface_status(surface.get()), path.string());
        context.reset(cairo_create(surface.get()));
        if (format == FigureFormat::png) cairo_scale(context.get(), scale(), scale());
        name_document();
    }

    double scale() const { return page.dpi / points_per_inch; }

    cairo_surface_t* made_surface() {
        if (format == FigureFormat::pdf)
            return cairo_pdf_surface_create_for_stream(write_to, &stream, page.width, page.height);
        if (format == FigureFormat::svg) {
            cairo_surface_t* svg = cairo_svg_surface_create_for_stream(write_to, &stream, page.width, page.height);
            cairo_svg_surface_set_document_unit(svg, CAIRO_SVG_UNIT_PT);
            return svg;
        }
        const double width = std::round(page.width * scale()), height = std::round(page.height * scale());
        if (width <= max_pixels && height <= max_pixels) {
            return cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width), static_cast<int>(height));
        }
        throw Error(ErrorCode::bad_setting, fmt::format("{:.0f} x {:.0f} pixels are too many", width, height),
                    "figure.dpi", fmt::format("at most {:.0f} a side", max_pixels));
    }

    void name_document() {
        if (format != FigureFormat::pdf) return;
        const std::string creator = fmt::format("Echolux {}", version);
        cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE, page.title.c_str());
        cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_SUBJECT, page.subject.c_str());
        cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATOR, creator.c_str());
    }

    void write_pixels() {
        cairo_surface_flush(surface.get());
        const std::int64_t width = cairo_image_surface_get_width(surface.get());
        const std::int64_t height = cairo_image_surface_get_height(surface.get());
        const unsigned char* rows = cairo_image_surface_get_data(surface.get());
        const int stride = cairo_image_surface_get_stride(surface.get());
        const auto writer = create_picture(path, {width, height, 3}, page.texts);
        std::vector<std::uint8_t> row(static_cast<std::size_t>(3 * width));
        for (std::int64_t y = 0; y < height; ++y) {
            for (std::int64_t x = 0; x < width; ++x) {
                std::uint32_t code = 0;
                std::memcpy(&code, rows + y * stride + 4 * x, sizeof code);
                std::uint8_t* pixel = row.data() + 3 * x;
                pixel[0] = static_cast<std::uint8_t>(code >> 16);
                pixel[1] = static_cast<std::uint8_t>(code >> 8);
                pixel[2] = static_cast<std::uint8_t>(code);
            }
            writer->write(std::as_bytes(std::span(row)));
        }
        writer->finish();
    }

    void finish() {
        need(cairo_status(context.get()), path.string());
        if (format == FigureFormat::png) return write_pixels();
        cairo_surface_finish(surface.get());
        need(cairo_surface_status(surface.get()), path.string());
        if (format == FigureFormat::svg) stream << svg_mark();
        stream.close();
        need(stream ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR, path.string());
        file.commit();
    }

    std::filesystem::path path;
    Page page;
    FigureFormat format;
    AtomicFile file;
    std::ofstream stream;
    Owned<cairo_surface_t> surface;
    Owned<cairo_t> context;
};

Paper::Paper(const std::filesystem::path& path, const Page& page) : drawing_(std::make_unique<Drawing>(path, page)) {
    cairo_set_source_rgb(drawing_->context.get(), 1, 1, 1);
    cairo_paint(drawing_->context.get());  // includes pixels that the page covers only partly
}

Paper::~Paper() = default;

void Paper::fill(const Box& box, Gray gray) {
    cairo_t* context = drawing_->context.get();
    cairo_set_source_rgb(context, gray, gray, gray);
    cairo_rectangle(context, box.left, box.top, box.width, box.height);
    cairo_fill(context);
}

void Paper::line(Point from, Point to, double width, Gray gray) {
    cairo_t* context = drawing_->context.get();
    cairo_set_source_rgb(context, gray, gray, gray);
    cairo_set_line_width(context, width);
    cairo_set_line_cap(context, CAIRO_LINE_CAP_BUTT);
    cairo_move_to(context, from.x, from.y);
    cairo_line_to(context, to.x, to.y);
    cairo_stroke(context);
}

void Paper::curve(const Box& within, const std::vector<Point>& points, const Stroke& stroke) {
    cairo_t* context = drawing_->context.get();
    cairo_save(context);
    cairo_rectangle(context, within.left, within.top, within.width, within.height);
    cairo_clip(context);
    cairo_set_source_rgb(context, stroke.colour.red, stroke.colour.green, stroke.colour.blue);
    cairo_set_line_width(context, stroke.width);
    cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND);
    if (stroke.dash > 0) cairo_set_dash(context, &stroke.dash, 1, 0);
    for (const Point& point : points) cairo_line_to(context, point.x, point.y);
    cairo_stroke(context);
    cairo_restore(context);
}

void Paper::spots(const Box& within, const std::vector<Point>& points, double radius, const Colour& colour) {
    cairo_t* context = drawing_->context.get();
    cairo_save(context);
    cairo_rectangle(context, within.left, within.top, within.width, within.height);
    cairo_clip(context);
    cairo_set_source_rgb(context, colour.red, colour.green, colour.blue);
    for (const Point& point : points) {
        cairo_arc(context, point.x, point.y, radius, 0, 2 * std::numbers::pi);
        cairo_fill(context);
    }
    cairo_restore(context);
}

void Paper::text(Point at, Anchor anchor, double size, const std::string& text, Gray gray, Turn turn) {
    constexpr double capital_height = 0.727;  // in em, of Inter
    cairo_t* context = drawing_->context.get();
    cairo_save(context);
    use_font(context, size);
    cairo_set_source_rgb(context, gray, gray, gray);
    cairo_translate(context, at.x, at.y);
    if (turn == Turn::upwards) cairo_rotate(context, -std::numbers::pi / 2);
    cairo_move_to(context, -anchor.along * text_width(text, size), (1 - anchor.down) * capital_height * size);
    cairo_show_text(context, text.c_str());
    cairo_restore(context);
}

void Paper::picture(const Box& box, const Picture& picture) {
    const Owned<cairo_surface_t> surface = surface_of(picture);
    cairo_t* context = drawing_->context.get();
    cairo_save(context);
    cairo_rectangle(context, box.left, box.top, box.width, box.height);
    cairo_clip(context);
    cairo_translate(context, box.left, box.top);
    cairo_scale(context, box.width / static_cast<double>(picture.width),
                box.height / static_cast<double>(picture.height));
    cairo_set_source_surface(context, surface.get(), 0, 0);
    // Voxels that are printed large are shown as squares: smoothing would suggest more detail than was measured.
    constexpr double large = 1, least = 0.25;  // points; 0.25: one pixel at 300 dpi
    const double across = box.width / static_cast<double>(picture.width);
    const double down = box.height / static_cast<double>(picture.height);
    const bool is_large = std::max(across, down) > large && std::min(across, down) > least;
    cairo_pattern_set_filter(cairo_get_source(context), is_large ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_GOOD);
    if (drawing_->format == FigureFormat::png) {  // avoids a pale rim around enlarged pixels; other formats scale them
                                                  // exactly
        cairo_pattern_set_extend(cairo_get_source(context), CAIRO_EXTEND_PAD);
    }
    cairo_paint(context);
    cairo_restore(context);
}

void Paper::finish() {
    drawing_->finish();
}

double text_width(const std::string& text, double size) {
    const Owned<cairo_surface_t> surface(cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1));
    const Owned<cairo_t> context(cairo_create(surface.get()));
    cairo_font_options_t* options = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(context.get(), options);
    cairo_font_options_destroy(options);
    use_font(context.get(), size);
    cairo_text_extents_t extents;
    cairo_text_extents(context.get(), text.c_str(), &extents);
    return extents.x_advance;
}

}  // namespace echolux
