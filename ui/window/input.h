// Actions of drags in a pane: maps buttons and modifier keys to an action, and pixels to a changed view. Pure
// functions.
#pragma once

#include <glm/vec2.hpp>
#include <glm/vec3.hpp>
#include <optional>

#include "compute/plan/describe.h"
#include "render/transfer_function.h"
#include "render/view/view.h"

namespace echolux {

enum class Drag { none, rotate, roll, pan, zoom, cross, values, surface, light };

// Button and modifier keys at the start of a drag.
struct Grip {
    int button = 0;  // left, right, middle
    bool shift = false, ctrl = false;
};

// Mouse bindings as in 3D Slicer (Shift + left: pan, Ctrl + left: roll) or as in ParaView (Shift + left: roll, Ctrl +
// left: zoom).
Drag drag_in_volume(const Grip& grip, bool as_slicer);

// Mouse bindings: left: cross-hair; right: window and level; middle or Shift + left: pan; Ctrl + left: zoom.
Drag drag_in_section(const Grip& grip);

// Returns the view after a drag by `pixels`. `at` is the pointer relative to the centre of the picture.
View dragged(const View& view, Drag drag, const glm::dvec2& pixels, const glm::dvec2& at, const glm::dvec3& extent);

// Returns the zoom factor of a drag; dragging up enlarges.
double zoom_factor(double pixels_down);

// Window and level: dragging right widens the range, dragging up brightens. The size of the picture corresponds to the
// complete range.
ValueRange values_dragged(const ValueRange& range, const glm::dvec2& pixels, double picture_size);

}  // namespace echolux
