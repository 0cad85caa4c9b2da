#include "ui/window/input.h"

#include <algorithm>
#include <cmath>
#include <glm/trigonometric.hpp>

#include "compute/plan/describe.h"
#include "render/camera.h"

namespace echolux {
namespace {

// The roll angle follows the angle of the pointer around the centre.
View rolled(View view, const glm::dvec2& pixels, const glm::dvec2& at) {
    const glm::dvec2 before = at - pixels;
    const double turned = std::atan2(at.y, at.x) - std::atan2(before.y, before.x);
    const Angles angles = angles_of(view);
    view.look = Look::free;
    view.azimuth_deg = angles.azimuth_deg;
    view.elevation_deg = angles.elevation_deg;
    view.roll_deg = std::remainder(angles.roll_deg + glm::degrees(turned), 360.0);
    return view;
}

}  // namespace

Drag drag_in_volume(const Grip& grip, bool as_slicer) {
    if (grip.button == 2) return Drag::pan;
    if (grip.button == 1) return grip.shift && !as_slicer ? Drag::pan : Drag::zoom;
    if (grip.shift) return as_slicer ? Drag::pan : Drag::roll;
    if (grip.ctrl) return as_slicer ? Drag::roll : Drag::zoom;
    return Drag::rotate;
}

Drag drag_in_section(const Grip& grip) {
    if (grip.button == 2) return Drag::pan;
    if (grip.button == 1) return Drag::values;
    if (grip.shift) return Drag::pan;
    return grip.ctrl ? Drag::zoom : Drag::cross;
}

View dragged(const View& view, Drag drag, const glm::dvec2& pixels, const glm::dvec2& at, const glm::dvec3& extent) {
    switch (drag) {
        case Drag::rotate: return orbited(view, pixels);
        case Drag::roll: return rolled(view, pixels, at);
        case Drag::pan: return panned(view, pixels, extent);
        case Drag::zoom: return dollied(view, zoom_factor(pixels.y), {0, 0}, extent);
        case Drag::none:
        case Drag::cross:
        case Drag::values:
        case Drag::surface:
        case Drag::light: break;
    }
    return view;
}

// 87 pixels double the size.
double zoom_factor(double pixels_down) {
    return std::exp(-0.008 * pixels_down);
}

ValueRange values_dragged(const ValueRange& range, const glm::dvec2& pixels, double picture_size) {
    const double width = range.high - range.low;
    const double middle = 0.5 * (range.low + range.high) + width * pixels.y / picture_size;
    const double wider = width * std::exp(2 * pixels.x / picture_size);
    return {middle - 0.5 * wider, middle + 0.5 * wider};
}

}  // namespace echolux
