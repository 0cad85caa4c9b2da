// A page that is drawn on once and written as PDF, SVG or PNG: lines and texts stay vectors where the format has them.
// Lengths are points (1/72 inch) from the left top corner.
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
    double dash = 0;  // length of dashes and gaps; 0: none
};

// Where a text lies about its point: 0 begins there, 0.5 is centred, 1 ends there; down: 0 hangs below it, 1 stands on
// it, capitals counted.
struct Anchor {
    double along = 0, down = 1;
};

enum class Turn { none, upwards };  // a text that is read from below

struct Page {
    double width = 0, height = 0;
    double dpi = 300;            // of a PNG
    PictureTexts texts;          // carried by a PNG
    std::string title, subject;  // carried by a PDF
};

class Paper {
  public:
    // The format goes by the ending. Throws what check_figure_name() throws, and Error{bad_setting} for a page of too
    // many pixels.
    Paper(const std::filesystem::path& path, const Page& page);
    ~Paper();  // without finish(): no file is left
    Paper(const Paper&) = delete;
    Paper& operator=(const Paper&) = delete;

    void fill(const Box& box, Gray gray);
    void line(Point from, Point to, double width, Gray gray);
    void text(Point at, Anchor anchor, double size, const std::string& text, Gray gray, Turn turn = Turn::none);

    // A line through all points, and a round spot at each; what lies outside of the box is not drawn.
    void curve(const Box& within, const std::vector<Point>& points, const Stroke& stroke);
    void spots(const Box& within, const std::vector<Point>& points, double radius, const Colour& colour);

    // Stretched over the box; its channels may be 1, 3 or 4, with alpha over what is there.
    void picture(const Box& box, const Picture& picture);

    // Throws Error{output}.
    void finish();

  private:
    struct Drawing;
    std::unique_ptr<Drawing> drawing_;
};

// Width of a text of this size.
double text_width(const std::string& text, double size);

}  // namespace echolux
