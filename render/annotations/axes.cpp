// A triad in the lower left corner with the directions of depth, A-scans and B-scans.
#include <array>
#include <glm/common.hpp>
#include <glm/geometric.hpp>

#include "render/annotations/context.h"

namespace echolux {
namespace {

struct Axis {
    const char* name;
    glm::vec3 colour;
};

// Colours that are safe for colour-blind readers: Okabe and Ito, "Color Universal Design", 2008 (orange, sky blue,
// bluish green).
const std::array<Axis, 3> axes{
    {{"depth", {0.902F, 0.624F, 0.0F}}, {"A-scan", {0.337F, 0.706F, 0.914F}}, {"B-scan", {0.0F, 0.620F, 0.451F}}}};

constexpr double reach = 2.4;            // em, length of an axis in the picture plane
constexpr glm::dvec2 corner{6.5, 4.5};   // em: room for arrows and names in any direction
constexpr double shortest_named = 0.15;  // of the reach: shorter axes point at the eye and leave no room for a name

}  // namespace

void draw_axes(Sheet& sheet, const AnnotationContext& context) {
    const glm::dvec2 reserved = corner * sheet.em() + sheet.frame();
    glm::dvec2 origin(reserved.x, sheet.size().y - reserved.y);
    const glm::dvec2 around = 0.7 * corner * sheet.em();
    origin.y += sheet.make_room(origin - around, origin + around, -1);
    for (int i = 0; i < 3; ++i) {
        const auto& [name, colour] = axes[static_cast<std::size_t>(i)];
        const glm::dvec2 along = context.direction(i);
        const glm::dvec2 tip = origin + reach * sheet.em() * along;
        sheet.arrow(origin, tip, colour);
        if (glm::length(along) < shortest_named) continue;
        const glm::dvec2 unit = glm::normalize(along);
        // Anchors the name on the side away from the tip.
        const glm::dvec2 anchor = 0.5 - 0.5 * glm::clamp(1.5 * unit, -1.0, 1.0);
        sheet.label(name, tip + 0.4 * sheet.em() * unit, anchor, colour);
    }
}

}  // namespace echolux
