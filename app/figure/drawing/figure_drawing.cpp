// Draws figures (app/figure/figure_page.h): lays out the panels of a page, and draws them with cairo, so that the same
// code makes PDF, SVG and PNG.
#include <cairo-ft.h>
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <numbers>
#include <sstream>
#include <string>
#include <vector>

#include "app/figure/figure_page.h"
#include "assets/assets.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/build.h"
#include "engine/io/atomic_file.h"
#include "engine/io/png_file.h"
#include "render/annotations/annotations.h"

namespace echolux {

// ---- A page that is drawn and then written as PDF, SVG or PNG. Lines and texts remain vectors in PDF and SVG. Lengths
// are in points (1/72 inch) from the top left corner.

struct Point {
    double x = 0, y = 0;
};

struct Box {
    double left = 0, top = 0, width = 0, height = 0;

    double right() const { return left + width; }
    double bottom() const { return top + height; }
};

using Gray = double;  // 0 black, 1 white

struct Stroke {
    double width = 1;
    Colour colour;
    double dash = 0;  // length of dashes and gaps; 0: solid
};

// Position of a text relative to its point. along: 0 starts there, 0.5 is centred, 1 ends there. down: 0 is below the
// point, 1 above it, measured by the height of capitals.
struct Anchor {
    double along = 0, down = 1;
};

enum class Turn { none, upwards };  // upwards: rotated, to be read from the right

struct Page {
    double width = 0, height = 0;
    double dpi = 300;            // of PNG
    PictureTexts texts;          // stored in PNG
    std::string title, subject;  // stored in PDF
};

class Paper {
  public:
    // The file name extension selects the format. Throws what check_figure_name() throws, and Error{bad_setting} for
    // too many pixels.
    Paper(const std::filesystem::path& path, const Page& page);
    ~Paper();  // without finish() no file remains
    Paper(const Paper&) = delete;
    Paper& operator=(const Paper&) = delete;

    void fill(const Box& box, Gray gray);
    void line(Point from, Point to, double width, Gray gray);
    void text(Point at, Anchor anchor, double size, const std::string& text, Gray gray, Turn turn = Turn::none);

    // A line through all points, or a round spot at each, clipped to the box.
    void curve(const Box& within, const std::vector<Point>& points, const Stroke& stroke);
    void spots(const Box& within, const std::vector<Point>& points, double radius, const Colour& colour);

    // Stretched to fill the box. A picture has 1, 3 or 4 channels; alpha is blended with the page.
    void picture(const Box& box, const Picture& picture);

    // Throws Error{output}.
    void finish();

  private:
    struct Drawing;
    std::unique_ptr<Drawing> drawing_;
};

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
    auto& to = *static_cast<std::ostream*>(stream);
    to.write(reinterpret_cast<const char*>(bytes), count);
    return to ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

// Cairo numbers clips, images and surfaces of SVG files from the start of the process. Numbers them from the start of
// the file, so that a figure has the same bytes each time.
std::string renumbered(std::string_view svg) {
    std::string text;
    std::map<std::string_view, std::size_t> numbers;
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    std::size_t copied = 0;
    for (std::size_t at = svg.find('"'); at != std::string_view::npos; at = svg.find('"', at + 1)) {
        std::size_t begin = at + 1;
        if (svg.substr(begin).starts_with("url(")) begin += 4;
        if (begin < svg.size() && svg[begin] == '#')
            ++begin;
        else if (at < 4 || svg.substr(at - 4, 4) != " id=")
            continue;
        std::size_t digits = begin;
        while (digits < svg.size() && svg[digits] >= 'a' && svg[digits] <= 'z') ++digits;
        std::size_t end = digits;
        while (end < svg.size() && is_digit(svg[end])) ++end;
        if (end == digits || end == svg.size() || (svg[end] != '"' && svg[end] != ')')) continue;
        const auto [entry, is_new] = numbers.try_emplace(svg.substr(begin, end - begin), numbers.size());
        text += svg.substr(copied, digits - copied);
        text += std::to_string(entry->second);
        copied = end;
    }
    text += svg.substr(copied);
    return text;
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

// Returns the width of the text in points.
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

}  // namespace

struct Paper::Drawing {
    Drawing(const std::filesystem::path& to, const Page& wanted)
        : path(to), page(wanted), format(figure_format_of(to)), file(to) {
        if (format != FigureFormat::png) stream.open(file.temporary(), std::ios::binary);
        surface.reset(create_surface());
        need(cairo_surface_status(surface.get()), path.string());
        context.reset(cairo_create(surface.get()));
        if (format == FigureFormat::png) cairo_scale(context.get(), scale(), scale());
        name_document();
    }

    double scale() const { return page.dpi / points_per_inch; }

    cairo_surface_t* create_surface() {
        if (format == FigureFormat::pdf)
            return cairo_pdf_surface_create_for_stream(write_to, static_cast<std::ostream*>(&stream), page.width,
                                                       page.height);
        if (format == FigureFormat::svg) {
            cairo_surface_t* svg = cairo_svg_surface_create_for_stream(write_to, static_cast<std::ostream*>(&svg_text),
                                                                       page.width, page.height);
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
        std::vector<std::uint8_t> row(index(3 * width));
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
        if (format == FigureFormat::svg) stream << renumbered(svg_text.view()) << svg_mark();
        stream.close();
        need(stream ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR, path.string());
        file.commit();
    }

    std::filesystem::path path;
    Page page;
    FigureFormat format;
    AtomicFile file;
    std::ofstream stream;
    std::ostringstream svg_text;
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
    // Avoids a pale rim around enlarged pixels; other formats scale them exactly.
    if (drawing_->format == FigureFormat::png) {
        cairo_pattern_set_extend(cairo_get_source(context), CAIRO_EXTEND_PAD);
    }
    cairo_paint(context);
    cairo_restore(context);
}

void Paper::finish() {
    drawing_->finish();
}

// ---- Curves of a panel inside its frame: grid, shaded ranges, lines and spots, legend.

constexpr Gray black = 0, pale = 0.9, paler = 0.95, white = 1;

static double place_across(const FigureAxis& axis, const Box& box, double value) {
    return box.left + box.width * (value - axis.begin) / (axis.end - axis.begin);
}

static double place_down(const FigureAxis& axis, const Box& box, double value) {
    return box.top + box.height * (value - axis.begin) / (axis.end - axis.begin);
}

static void draw_curve(Paper& paper, const Box& box, const FigureCurve& curve, const std::vector<Point>& points,
                       double text) {
    if (curve.look == FigureCurve::Look::spots) return paper.spots(box, points, 0.22 * text, curve.colour);
    const double dash = curve.look == FigureCurve::Look::dashed ? 0.4 * text : 0;
    paper.curve(box, points, {0.12 * text, curve.colour, dash});
}

// Drawn on an opaque plate, since it may cover curves. `text` is the text size, and all lengths are multiples of it.
static void draw_legend(Paper& paper, const FigurePanel& panel, const Box& box, double text) {
    const double gap = 0.45 * text, feed = 1.45 * text, sample = 2 * text;
    double widest = 0, lines = 0;
    for (const FigureCurve& curve : panel.curves) {
        widest = std::max(widest, text_width(curve.name, text));
        lines += curve.name.empty() ? 0 : 1;
    }
    if (lines == 0) return;
    const double width = sample + widest + 3 * gap;
    const double left = panel.legend == LegendCorner::left ? box.left + gap : box.right() - gap - width;
    const Box plate{left, box.top + gap, width, lines * feed + gap};
    paper.fill(plate, white);
    double y = plate.top + gap / 2 + feed / 2;
    for (const FigureCurve& curve : panel.curves) {
        if (curve.name.empty()) continue;
        const bool has_spots = curve.look == FigureCurve::Look::spots;
        const double begin = plate.left + gap, end = begin + sample;
        draw_curve(paper, plate, curve,
                   has_spots ? std::vector<Point>{{(begin + end) / 2, y}} : std::vector<Point>{{begin, y}, {end, y}},
                   text);
        paper.text({end + gap, y}, {0, 0.5}, text, curve.name, black);
        y += feed;
    }
}

static std::vector<Point> places_of(const FigurePanel& panel, const Box& box, const FigureCurve& curve) {
    std::vector<Point> points;
    for (std::size_t i = 0; i < curve.x.size(); ++i)
        points.push_back({place_across(*panel.across, box, curve.x[i]), place_down(*panel.downwards, box, curve.y[i])});
    return points;
}

static void draw_overlay(Paper& paper, const FigurePanel& panel, const Box& box, double text) {
    for (const FigureCurve& curve : panel.overlay) draw_curve(paper, box, curve, places_of(panel, box, curve), text);
    for (const FigureNote& note : panel.notes) {
        const Point at{place_across(*panel.across, box, note.x), place_down(*panel.downwards, box, note.y)};
        const double width = text_width(note.text, text) + 0.6 * text, height = 1.3 * text;
        paper.fill({at.x - width / 2, at.y - height / 2, width, height}, white);
        paper.text(at, {0.5, 0.5}, text, note.text, black);
    }
}

// `panel` has both axes. `text` is the size of all text. Grid lines are at the ticks.
static void draw_curves(Paper& paper, const FigurePanel& panel, const Box& box, double text,
                        const std::vector<Tick>& across, const std::vector<Tick>& downwards) {
    const FigureAxis &x_axis = *panel.across, &y_axis = *panel.downwards;
    for (const auto& [begin, end] : panel.shaded) {
        const double left = std::max(box.left, place_across(x_axis, box, begin));
        const double right = std::min(box.right(), place_across(x_axis, box, end));
        if (left < right) paper.fill({left, box.top, right - left, box.height}, paler);
    }
    const double thin = 0.06 * text;
    for (const Tick& tick : across) {
        const double x = place_across(x_axis, box, tick.value);
        paper.line({x, box.top}, {x, box.bottom()}, thin, pale);
    }
    for (const Tick& tick : downwards) {
        const double y = place_down(y_axis, box, tick.value);
        paper.line({box.left, y}, {box.right(), y}, thin, pale);
    }
    for (const FigureCurve& curve : panel.curves) draw_curve(paper, box, curve, places_of(panel, box, curve), text);
    draw_legend(paper, panel, box, text);
}

// ---- Layout of the page

namespace {

constexpr double points_per_mm = 72 / 25.4;
constexpr double max_height = 1.4;  // total height of the pictures of all rows, in page widths
constexpr double line_feed = 1.2;   // em

// All lengths on the page scale with the text size.
struct Measure {
    explicit Measure(const FigureStyle& style)
        : text(style.text_pt), gap(0.45 * text), tick(0.35 * text), line(0.07 * text), bar(1.1 * text) {}

    double text, gap, tick, line, bar;
};

std::vector<Tick> ticks_of(double begin, double end, double length, double text, double per_tick) {
    const int most = std::max(3, static_cast<int>(length / (per_tick * text)));
    return ticks_between(std::min(begin, end), std::max(begin, end), most);
}

// Uses a minus sign, which is as wide as a plus, instead of a hyphen.
std::string with_minus(const std::string& text) {
    return text.starts_with('-') ? "\u2212" + text.substr(1) : text;
}

std::string title_of(const FigureAxis& axis) {
    return axis.unit.empty() ? axis.label : axis.label + " (" + axis.unit + ")";
}

double widest(const std::vector<Tick>& ticks, double size) {
    double most = 0;
    for (const Tick& tick : ticks) most = std::max(most, text_width(with_minus(tick.text), size));
    return most;
}

// Breaks a text between words into lines of at most `length`.
std::vector<std::string> lines_within(const std::string& text, double size, double length) {
    std::vector<std::string> lines;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (!lines.empty() && text_width(lines.back() + " " + word, size) <= length)
            lines.back() += " " + word;
        else
            lines.push_back(word);
    }
    return lines;
}

// Space that a panel needs around its picture.
struct Margins {
    double left = 0, right = 0, top = 0, bottom = 0;
};

class PanelPainter {
  public:
    PanelPainter(const FigurePanel& panel, const FigureStyle& style, std::string letter)
        : panel_(panel), style_(style), measure_(style), letter_(std::move(letter)) {}

    Margins margins(double height) const {
        const Measure& m = measure_;
        Margins margins{m.gap, m.gap, m.gap, m.gap};
        if (!above().empty()) margins.top += 1.5 * m.text;
        if (!panel_.curves.empty()) margins.right += 1.3 * m.text;  // half of the last number
        if (has_axes()) {
            margins.top = std::max(margins.top, 0.5 * m.text);  // half of the topmost number
            margins.bottom += m.tick + 2 * m.gap + 2 * m.text;
            margins.left += m.tick + 2 * m.gap + m.text + widest(ticks_down(height), m.text);
        }
        if (has_bar()) {
            const double lines = line_feed * m.text * static_cast<double>(unit_lines(height).size());
            margins.right += 4 * m.gap + m.bar + m.tick + widest(bar_ticks(height), m.text) + lines;
        }
        return margins;
    }

    void draw(Paper& paper, const Box& box) const {
        if (panel_.curves.empty())
            paper.picture(box, panel_.picture);
        else
            draw_curves(paper, panel_, box, measure_.text, ticks_across(box.width), ticks_down(box.height));
        draw_overlay(paper, panel_, box, measure_.text);
        if (has_axes()) {
            draw_frame(paper, box);
            draw_across(paper, box);
            draw_down(paper, box);
        }
        if (has_bar()) draw_bar(paper, box);
        if (style_.scale_bar && panel_.width_um > 0) draw_scale_bar(paper, box);
        if (!above().empty()) {
            paper.text({box.left, box.top - 2 * measure_.gap}, {0, 1}, 1.25 * measure_.text, above(), black);
        }
    }

  private:
    bool has_axes() const { return style_.axes && panel_.across && panel_.downwards; }
    std::string above() const {
        return letter_.empty() || panel_.heading.empty() ? letter_ + panel_.heading : letter_ + "   " + panel_.heading;
    }
    bool has_bar() const { return style_.colour_bar && panel_.bar; }

    std::vector<Tick> ticks_across(double width) const {
        return ticks_of(panel_.across->begin, panel_.across->end, width, measure_.text, 3.2);
    }

    std::vector<Tick> ticks_down(double height) const {
        return ticks_of(panel_.downwards->begin, panel_.downwards->end, height, measure_.text, 1.8);
    }

    std::vector<Tick> bar_ticks(double height) const {
        return ticks_of(panel_.bar->range.black, panel_.bar->range.white, height, measure_.text, 1.8);
    }

    std::vector<std::string> unit_lines(double height) const {
        return lines_within(panel_.bar->unit, measure_.text, height + measure_.text);
    }

    void draw_frame(Paper& paper, const Box& box) const {
        const double half = measure_.line / 2;
        for (const double y : {box.top, box.bottom()}) {
            paper.line({box.left - half, y}, {box.right() + half, y}, measure_.line, black);
        }
        for (const double x : {box.left, box.right()})
            paper.line({x, box.top}, {x, box.bottom()}, measure_.line, black);
    }

    void draw_across(Paper& paper, const Box& box) const {
        const Measure& m = measure_;
        const FigureAxis& axis = *panel_.across;
        for (const Tick& tick : ticks_across(box.width)) {
            const double x = box.left + box.width * (tick.value - axis.begin) / (axis.end - axis.begin);
            paper.line({x, box.bottom()}, {x, box.bottom() + m.tick}, m.line, black);
            paper.text({x, box.bottom() + m.tick + m.gap}, {0.5, 0}, m.text, with_minus(tick.text), black);
        }
        const double y = box.bottom() + m.tick + 2 * m.gap + m.text;
        paper.text({box.left + box.width / 2, y}, {0.5, 0}, m.text, title_of(axis), black);
    }

    void draw_down(Paper& paper, const Box& box) const {
        const Measure& m = measure_;
        const FigureAxis& axis = *panel_.downwards;
        const std::vector<Tick> ticks = ticks_down(box.height);
        for (const Tick& tick : ticks) {
            const double y = box.top + box.height * (tick.value - axis.begin) / (axis.end - axis.begin);
            paper.line({box.left - m.tick, y}, {box.left, y}, m.line, black);
            paper.text({box.left - m.tick - m.gap, y}, {1, 0.5}, m.text, with_minus(tick.text), black);
        }
        const double x = box.left - m.tick - 2 * m.gap - widest(ticks, m.text);
        paper.text({x, box.top + box.height / 2}, {0.5, 1}, m.text, title_of(axis), black, Turn::upwards);
    }

    Picture gradient() const {
        Picture column{1, 256, 1, {}, {}};
        for (int i = 0; i < 256; ++i) {
            const bool is_inverted = style_.gray == GrayDirection::inverted;
            column.pixels.push_back(static_cast<std::uint8_t>(is_inverted ? i : 255 - i));
        }
        return column;
    }

    void draw_bar(Paper& paper, const Box& box) const {
        const Measure& m = measure_;
        const Box bar{box.right() + 3 * m.gap, box.top, m.bar, box.height};
        paper.picture(bar, panel_.bar->colours ? *panel_.bar->colours : gradient());
        draw_frame(paper, bar);
        const auto [low, high] = panel_.bar->range;
        const std::vector<Tick> ticks = bar_ticks(box.height);
        for (const Tick& tick : ticks) {
            const double y = bar.bottom() - bar.height * (tick.value - low) / (high - low);
            paper.line({bar.right(), y}, {bar.right() + m.tick, y}, m.line, black);
            paper.text({bar.right() + m.tick + m.gap, y}, {0, 0.5}, m.text, with_minus(tick.text), black);
        }
        double x = bar.right() + m.tick + 2 * m.gap + widest(ticks, m.text);
        for (const std::string& line : unit_lines(box.height)) {
            paper.text({x, box.top + box.height / 2}, {0.5, 0}, m.text, line, black, Turn::upwards);
            x += line_feed * m.text;
        }
    }

    // In the lower right corner, on an opaque plate, because pictures may be bright or dark.
    void draw_scale_bar(Paper& paper, const Box& box) const {
        constexpr double max_of_width = 0.3;  // before rounding down to 1, 2 or 5 times a power of ten
        const Measure& m = measure_;
        const double length_um = round_below(max_of_width * panel_.width_um);
        const std::string label = length_text(length_um, true);
        const double length = box.width * length_um / panel_.width_um;
        const double inner = std::max(length, text_width(label, m.text));
        const double thickness = 0.22 * m.text;
        const Box plate{box.right() - inner - 3 * m.gap, box.bottom() - m.text - thickness - 4 * m.gap,
                        inner + 2 * m.gap, m.text + thickness + 3 * m.gap};
        if (plate.width > 0.8 * box.width || plate.height > 0.5 * box.height) return;  // it would cover the picture
        const bool is_inverted = style_.gray == GrayDirection::inverted;
        const double middle = plate.left + plate.width / 2;
        paper.fill(plate, is_inverted ? white : black);
        paper.fill({middle - length / 2, plate.bottom() - m.gap - thickness, length, thickness},
                   is_inverted ? black : white);
        paper.text({middle, plate.bottom() - 2 * m.gap - thickness}, {0.5, 1}, m.text, label,
                   is_inverted ? black : white);
    }

    const FigurePanel& panel_;
    const FigureStyle& style_;
    Measure measure_;
    std::string letter_;
};

// A row of panels whose pictures have the same height and together fill the page width.
struct PageRow {
    std::vector<PanelPainter> painters;
    std::vector<Margins> margins;
    double height = 0;           // of the pictures
    double top = 0, bottom = 0;  // largest margins in the row
    double width = 0;            // of the whole row
};

PageRow placed(const FigureRow& row, std::vector<PanelPainter> painters, double page_width, double highest) {
    PageRow place{std::move(painters), {}, 0, 0, 0, 0};
    double aspects = 0;
    for (const FigurePanel& panel : row) aspects += panel.aspect;
    place.height = page_width / aspects;
    for (int round = 0; round < 3; ++round) {  // margins depend on the axis numbers, which depend on the height
        place.margins.clear();
        double around = 0;
        for (const PanelPainter& painter : place.painters) {
            place.margins.push_back(painter.margins(place.height));
            around += place.margins.back().left + place.margins.back().right;
        }
        place.height = std::clamp((page_width - around) / aspects, 1.0, highest);
        place.width = around + place.height * aspects;
    }
    for (const Margins& margin : place.margins) {
        place.top = std::max(place.top, margin.top);
        place.bottom = std::max(place.bottom, margin.bottom);
    }
    return place;
}

// Returns the max height of rows such that all fit on the page. Space left by lower rows is used by higher ones.
double common_height(std::vector<double> heights, double page_height) {
    std::ranges::sort(heights);
    double left = page_height;
    for (std::size_t i = 0; i < heights.size(); ++i) {
        const double share = left / static_cast<double>(heights.size() - i);
        if (heights[i] > share) return share;
        left -= heights[i];
    }
    return page_height;
}

}  // namespace

void draw_figure(const std::filesystem::path& path, const std::vector<FigureRow>& rows, const FigureStyle& style,
                 const PictureTexts& texts) {
    const Measure measure(style);
    const double width = style.width_mm * points_per_mm;
    const double title = style.title.empty() ? 0 : 2.2 * measure.text;
    const auto count = std::ranges::count_if(rows, [](const FigureRow& row) { return !row.empty(); });
    const bool has_letters = style.letters && (count > 1 || (count == 1 && rows.front().size() > 1));
    const auto placed_below = [&](double highest) {
        std::vector<PageRow> all;
        char letter = 'a';
        for (const FigureRow& row : rows) {
            std::vector<PanelPainter> painters;
            for (const FigurePanel& panel : row) {
                painters.emplace_back(panel, style, has_letters ? std::string(1, letter++) : std::string());
            }
            all.push_back(placed(row, std::move(painters), width, highest));
        }
        return all;
    };
    // The first layout shows how high the rows would be. If they exceed the page, the second one limits their height,
    // which also changes the ticks and with them the margins.
    std::vector<PageRow> places = placed_below(max_height * width);
    std::vector<double> heights;
    for (const PageRow& place : places) heights.push_back(place.height);
    places = placed_below(common_height(heights, max_height * width));
    double height = title;
    for (const PageRow& place : places) height += place.top + place.height + place.bottom;
    Paper paper(path, {width, height, style.dpi, texts, style.title.empty() ? path.stem().string() : style.title,
                       texts.contains("source") ? texts.at("source") : ""});
    if (!style.title.empty()) {
        paper.text({width / 2, measure.gap}, {0.5, 0}, 1.25 * measure.text, style.title, black);
    }
    double top = title;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const PageRow& place = places[r];
        double left = std::max(0.0, (width - place.width) / 2);
        for (std::size_t i = 0; i < rows[r].size(); ++i) {
            const Margins& margin = place.margins[i];
            const Box box{left + margin.left, top + place.top, place.height * rows[r][i].aspect, place.height};
            place.painters[i].draw(paper, box);
            left = box.right() + margin.right;
        }
        top += place.top + place.height + place.bottom;
    }
    paper.finish();
}

}  // namespace echolux
