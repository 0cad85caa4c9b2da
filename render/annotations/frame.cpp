// A frame around the picture, and a title inside the frame or where its top would be.
#include <cmath>

#include "render/annotations/context.h"

namespace echolux {

void draw_frame(Sheet& sheet, const AnnotationContext& context) {
    // The top of the frame is at least as high as the title's band.
    const double side = sheet.frame(), band = sheet.band();
    if (side > 0) {
        const glm::dvec2 size = sheet.size();
        const double top = std::max(side, band);
        sheet.rectangle({0, 0}, {size.x, top}, sheet.ink());
        sheet.rectangle({0, size.y - side}, size, sheet.ink());
        sheet.rectangle({0, top}, {side, size.y - side}, sheet.ink());
        sheet.rectangle({size.x - side, top}, {size.x, size.y - side}, sheet.ink());
    }
    if (context.view.title.empty()) return;
    sheet.make_room({0, 0}, {sheet.size().x, band}, 1);
    const glm::vec3 colour = side > 0 ? sheet.rim() : sheet.ink();
    sheet.label(context.view.title, {0.5 * sheet.size().x, 0.5 * std::max(side, band)}, {0.5, 0.5}, colour);
}

}  // namespace echolux
