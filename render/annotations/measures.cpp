// Measured distances and angles, labelled with their values, and arrows along vessels.
#include <fmt/format.h>

#include <cmath>
#include <glm/geometric.hpp>
#include <glm/trigonometric.hpp>

#include "render/annotations/context.h"
#include "render/annotations/quantities.h"

namespace echolux {
namespace {

constexpr double end_mark = 0.35;  // em, to either side of the line
constexpr double arc_reach = 0.3;  // of the shorter leg
constexpr int arc_pieces = 24;

glm::dvec3 place_at(const std::vector<double>& numbers, std::size_t index) {
    return {numbers[index], numbers[index + 1], numbers[index + 2]};
}

// Returns the unit normal of a line; vertical for a line of zero length.
glm::dvec2 across(const Segment& line) {
    const glm::dvec2 along = line.to - line.from;
    const double length = glm::length(along);
    return length > 0 ? glm::dvec2(-along.y, along.x) / length : glm::dvec2(0, 1);
}

void draw_distance(Sheet& sheet, const AnnotationContext& context, const glm::dvec3& from, const glm::dvec3& to) {
    const std::optional<Segment> line = context.seen(context.from_centre(from), context.from_centre(to));
    if (!line) return;
    const glm::dvec2 side = across(*line);
    const glm::dvec2 mark = end_mark * sheet.em() * side;
    sheet.line(line->from, line->to);
    sheet.line(line->from - mark, line->from + mark);
    sheet.line(line->to - mark, line->to + mark);
    // Places the label above the line.
    const glm::dvec2 above = side.y > 0 ? -side : side;
    sheet.label(length_text(distance_um(from, to), context.is_um()),
                0.5 * (line->from + line->to) + 0.5 * sheet.em() * above, 0.5 - 0.5 * above);
}

// Circular arc in the plane of the unit vectors a and b, which starts at a and covers `angle` radians.
struct Arc {
    glm::dvec3 centre, a, b;
    double radius, angle;

    glm::dvec3 at(double part) const {
        return centre + radius * (std::cos(part * angle) * a + std::sin(part * angle) * b);
    }
};

Arc arc_between(const glm::dvec3& leg, const glm::dvec3& vertex, const glm::dvec3& other) {
    const double radius = arc_reach * std::min(glm::length(leg - vertex), glm::length(other - vertex));
    const glm::dvec3 a = glm::normalize(leg - vertex);
    // Gram-Schmidt: the second leg's component perpendicular to the first.
    const glm::dvec3 off = other - vertex - glm::dot(other - vertex, a) * a;
    const double length = glm::length(off);
    return {vertex, a, length > 0 ? off / length : glm::dvec3(0), radius, glm::radians(angle_deg(leg, vertex, other))};
}

void draw_angle(Sheet& sheet, const AnnotationContext& context, const glm::dvec3& leg, const glm::dvec3& vertex,
                const glm::dvec3& other) {
    const auto draw = [&](const glm::dvec3& from, const glm::dvec3& to) {
        const auto line = context.seen(context.from_centre(from), context.from_centre(to));
        if (line) sheet.line(line->from, line->to);
    };
    draw(vertex, leg);
    draw(vertex, other);
    if (leg == vertex || other == vertex) return;
    const Arc arc = arc_between(leg, vertex, other);
    for (int i = 0; i < arc_pieces; ++i) {
        draw(arc.at(static_cast<double>(i) / arc_pieces), arc.at(static_cast<double>(i + 1) / arc_pieces));
    }
    const auto middle = context.seen(context.from_centre(vertex), context.from_centre(arc.at(0.5)));
    if (!middle) return;
    const glm::dvec2 out = middle->to - middle->from;
    const glm::dvec2 unit = glm::length(out) > 0 ? glm::normalize(out) : glm::dvec2(0, -1);
    sheet.label(fmt::format("{:.1f}°", angle_deg(leg, vertex, other)), middle->to + 0.5 * sheet.em() * unit,
                0.5 - 0.5 * unit);
}

// Arrows have the colour of text: they show the direction and must stand out from the colours of flow.
void draw_flow_arrows(Sheet& sheet, const AnnotationContext& context) {
    const std::vector<double>& arrows = context.view.flow_arrows;
    for (std::size_t i = 0; i + 6 <= arrows.size(); i += 6) {
        const glm::dvec3 from = context.from_centre(place_at(arrows, i));
        const std::optional<Segment> line = context.seen(from, context.from_centre(place_at(arrows, i + 3)));
        if (line) sheet.arrow(line->from, line->to, sheet.ink());
    }
}

}  // namespace

void draw_measures(Sheet& sheet, const AnnotationContext& context) {
    draw_flow_arrows(sheet, context);
    const std::vector<double>& distances = context.view.distances;
    for (std::size_t i = 0; i + 6 <= distances.size(); i += 6) {
        draw_distance(sheet, context, place_at(distances, i), place_at(distances, i + 3));
    }
    const std::vector<double>& angles = context.view.angles;
    for (std::size_t i = 0; i + 9 <= angles.size(); i += 9) {
        draw_angle(sheet, context, place_at(angles, i), place_at(angles, i + 3), place_at(angles, i + 6));
    }
}

}  // namespace echolux
