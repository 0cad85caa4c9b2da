// What a drag in a pane does: from buttons and modifier keys to an action, from pixels to a changed view. Pure
// functions.
#pragma once

#include <glm/vec2.hpp>
#include <glm/vec3.hpp>
#include <optional>

#include "render/transfer_function.h"
#include "render/view/view.h"

namespace echolux {

enum class Drag { none, rotate, roll, pan, zoom, cross, values, surface, light };

struct Grip {
    int button = 0;  // 0 left, 1 right, 2 middle
    bool shift = false, ctrl = false;
};

// As in 3D Slicer (Shift + left: pan, Ctrl + left: roll), or as in ParaView (Shift + left: roll, Ctrl + left: zoom).
Drag drag_in_volume(const Grip& grip, bool as_slicer);

// Left: the cross-hair; right: which values are black and white; middle or Shift + left: pan; Ctrl + left: zoom.
Drag drag_in_section(const Grip& grip);

// The view after a drag by `pixels`, from a place `at` that is counted from the picture's middle.
View dragged(const View& view, Drag drag, const glm::dvec2& pixels, const glm::dvec2& at, const glm::dvec3& extent);

// The factor of a drag for zoom: up enlarges.
double zoom_factor(double pixels_down);

// Right in a section: to the right wider, up brighter, by the picture's size once the whole range.
ValueRange values_dragged(const ValueRange& range, const glm::dvec2& pixels, double picture_size);

}  // namespace echolux
