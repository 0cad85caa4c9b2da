// Instead of paper.cpp where cairo or the font is missing: check_figure_name() refuses before any of this is called.
#include "app/figure/figure_format.h"
#include "app/figure/paper.h"
#include "compute/error.h"

namespace echolux {

struct Paper::Drawing {};

Paper::Paper(const std::filesystem::path& path, const Page&) {
    check_figure_name(path);
}

Paper::~Paper() = default;
void Paper::fill(const Box&, Gray) {}
void Paper::line(Point, Point, double, Gray) {}
void Paper::text(Point, Anchor, double, const std::string&, Gray, Turn) {}
void Paper::curve(const Box&, const std::vector<Point>&, const Stroke&) {}
void Paper::spots(const Box&, const std::vector<Point>&, double, const Colour&) {}
void Paper::picture(const Box&, const Picture&) {}
void Paper::finish() {}

double text_width(const std::string&, double) {
    return 0;
}

}  // namespace echolux
