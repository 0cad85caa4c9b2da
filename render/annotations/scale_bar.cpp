// A bar of round length in the lower right corner.
#include "render/annotations/context.h"
#include "render/annotations/quantities.h"

namespace echolux {
namespace {

// Max length as a fraction of the picture's width.
constexpr double max_of_width = 0.22;
constexpr double thickness = 0.22;  // em

}  // namespace

void draw_scale_bar(Sheet& sheet, const AnnotationContext& context) {
    const double pixel = context.pixel_at_target();
    if (!(pixel > 0)) return;
    const double length = round_below(max_of_width * sheet.size().x * pixel);
    // In perspective, the length is only true at one distance.
    const bool at_one_distance = context.view.projection == Projection::perspective;
    const std::string text = length_text(length, context.is_um()) + (at_one_distance ? " at the target" : "");
    glm::dvec2 end = sheet.size() - sheet.margin();
    const double wide = std::max(length / pixel, sheet.size_of(text).x);
    end.y += sheet.make_room(end - glm::dvec2(wide, (thickness + 1.25) * sheet.em()), end, -1);
    const glm::dvec2 begin = end - glm::dvec2(length / pixel, thickness * sheet.em());
    sheet.rimmed_rectangle(begin, end, sheet.ink());
    sheet.label(text, {end.x, begin.y - 0.25 * sheet.em()}, {1, 1});
}

}  // namespace echolux
