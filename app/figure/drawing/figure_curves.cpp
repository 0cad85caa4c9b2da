#include "app/figure/drawing/figure_curves.h"

#include <algorithm>

namespace echolux {
namespace {

constexpr Gray black = 0, pale = 0.9, paler = 0.95, white = 1;

double place_across(const FigureAxis& axis, const Box& box, double value) {
    return box.left + box.width * (value - axis.begin) / (axis.end - axis.begin);
}

double place_down(const FigureAxis& axis, const Box& box, double value) {
    return box.top + box.height * (value - axis.begin) / (axis.end - axis.begin);
}

void draw_curve(Paper& paper, const Box& box, const FigureCurve& curve, const std::vector<Point>& points, double text) {
    if (curve.look == FigureCurve::Look::spots) return paper.spots(box, points, 0.22 * text, curve.colour);
    const double dash = curve.look == FigureCurve::Look::dashed ? 0.4 * text : 0;
    paper.curve(box, points, {0.12 * text, curve.colour, dash});
}

// Drawn on an opaque plate, since it may cover curves.
void draw_legend(Paper& paper, const FigurePanel& panel, const Box& box, double text) {
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

}  // namespace

void draw_curves(Paper& paper, const FigurePanel& panel, const Box& box, double text, const std::vector<Tick>& across,
                 const std::vector<Tick>& downwards) {
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
    for (const FigureCurve& curve : panel.curves) {
        std::vector<Point> points;
        for (std::size_t i = 0; i < curve.x.size(); ++i) {
            points.push_back({place_across(x_axis, box, curve.x[i]), place_down(y_axis, box, curve.y[i])});
        }
        draw_curve(paper, box, curve, points, text);
    }
    draw_legend(paper, panel, box, text);
}

}  // namespace echolux
