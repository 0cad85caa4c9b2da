// A page that is drawn and then written as PDF, SVG or PNG. Lines and texts remain vectors in PDF and SVG. Lengths are
// in points (1/72 inch) from the top left corner.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/figure/figure_style.h"
#include "engine/io/png_file.h"

namespace echolux {

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

// Width of the text in points.
double text_width(const std::string& text, double size);

}  // namespace echolux
