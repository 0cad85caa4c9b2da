// Depth ruler along the volume's leftmost edge in the picture. Depths follow the volume's spacing and start at zero
// delay. They are geometric if the scan specifies a refractive index, else optical.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <glm/geometric.hpp>

#include "render/annotations/context.h"
#include "render/annotations/quantities.h"

namespace echolux {
namespace {

constexpr double tick = 0.5;         // em
constexpr double min_between = 2.2;  // em, between ticks

struct Edge {
    glm::dvec3 top, bottom;
    Segment seen;
};

// Returns the visible edge along depth with the smallest mean x. Empty if all are behind the eye.
std::optional<Edge> leftmost_edge(const AnnotationContext& context) {
    std::optional<Edge> leftmost;
    for (const int a : {-1, 1}) {
        for (const int b : {-1, 1}) {
            const glm::dvec3 top = 0.5 * context.extent() * glm::dvec3(-1, a, b);
            const glm::dvec3 bottom = 0.5 * context.extent() * glm::dvec3(1, a, b);
            const std::optional<Segment> seen = context.seen(top, bottom);
            if (!seen) continue;
            const bool better = !leftmost || seen->from.x + seen->to.x < leftmost->seen.from.x + leftmost->seen.to.x;
            if (better) leftmost = {top, bottom, *seen};
        }
    }
    return leftmost;
}

// Returns the unit normal of the edge that points away from the volume's centre.
glm::dvec2 outwards(const AnnotationContext& context, const Segment& edge) {
    const glm::dvec2 along = glm::normalize(edge.to - edge.from);
    const glm::dvec2 across(-along.y, along.x);
    const auto centre = context.seen({}, {});
    const glm::dvec2 off = centre ? 0.5 * (edge.from + edge.to) - centre->from : glm::dvec2(-1, 0);
    return glm::dot(across, off) < 0 ? -across : across;
}

}  // namespace

void draw_depth_ruler(Sheet& sheet, const AnnotationContext& context) {
    const std::optional<Edge> edge = leftmost_edge(context);
    if (!edge) return;
    const double pixels = glm::length(edge->seen.to - edge->seen.from);
    const int max_ticks = static_cast<int>(std::min(20.0, pixels / (min_between * sheet.em())));
    if (max_ticks < 1) return;  // the edge points at the eye
    const glm::dvec2 out = outwards(context, edge->seen);
    const glm::dvec2 anchor = 0.5 - 0.5 * out;
    sheet.line(edge->seen.from, edge->seen.to);
    const DepthAxis depths = context.depths();
    for (const auto& [depth, text] : ticks_between(depths.first, depths.last, max_ticks)) {
        const glm::dvec3 place = glm::mix(edge->top, edge->bottom, depths.part(depth));
        const std::optional<Segment> seen = context.seen(place, place);
        if (!seen) continue;
        sheet.line(seen->from, seen->from + tick * sheet.em() * out);
        sheet.label(text, seen->from + 1.5 * tick * sheet.em() * out, anchor);
    }
    sheet.label(fmt::format("depth in {}", depths.unit.name), edge->seen.from + glm::dvec2(0, -0.6 * sheet.em()),
                {0.5, 1});
}

}  // namespace echolux
