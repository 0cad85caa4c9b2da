// Interactive camera motion: pure functions from a view to the next one, for any front end. Motions are in pixels right
// and down, positions are relative to the picture's centre. A named direction becomes angles, and all functions but
// orbited() end `fit` at the current size. `extent` is the result of volume_extent().
#pragma once

#include <glm/vec2.hpp>
#include <glm/vec3.hpp>

#include "render/view/view.h"

namespace echolux {

// Trackball: the volume follows the pointer as if it were inside a ball that fits into the picture. There are no poles,
// and moving back by (-x, -y) restores the view.
View orbited(View view, const glm::dvec2& pixels);

// Points at the target's depth follow the pointer.
View panned(View view, const glm::dvec2& pixels, const glm::dvec3& extent);

// Moves closer (perspective) or enlarges (orthographic) by a factor. The point under the pointer at the target's depth
// stays in place. Limited to the ranges of `distance` and `zoom`.
View dollied(View view, double factor, const glm::dvec2& at, const glm::dvec3& extent);

// Fly mode: the eye stays in place and turns to the right and up.
View looked(View view, double right_deg, double up_deg, const glm::dvec3& extent);

// Fly mode: the eye moves by lengths to the right, up and forward, with the same orientation.
View moved(View view, const glm::dvec3& right_up_forward, const glm::dvec3& extent);

// Centres the whole volume and fits it into the picture, from the current direction.
View fitted(View view, const glm::dvec3& extent);

}  // namespace echolux
