// How a view moves under the hand: pure functions from a view to the next one, for any front end. Distances on the
// picture are in pixels to the right and down, places on it from its middle; a view with a named direction becomes one
// with angles, and all but orbited() end `fit`, at the same size. `extent` are the volume's edges, as of
// volume_extent().
#pragma once

#include <glm/vec2.hpp>
#include <glm/vec3.hpp>

#include "render/view/view.h"

namespace echolux {

// Trackball: the volume follows the pointer as if it were held in a ball that just fits the picture. There is no pole
// at which it sticks, and going back by (-x, -y) comes back to the same view.
View orbited(View view, const glm::dvec2& pixels);

// What is at the target's depth follows the pointer.
View panned(View view, const glm::dvec2& pixels, const glm::dvec3& extent);

// Nearer by a factor (perspective) or larger by it (orthographic); what is under the pointer at the target's depth
// stays there. Limited to what `distance` and `zoom` may be.
View dollied(View view, double factor, const glm::dvec2& at, const glm::dvec3& extent);

// Fly: the eye stays and looks further to the right and up.
View looked(View view, double right_deg, double up_deg, const glm::dvec3& extent);

// Fly: the eye goes by lengths to the right, up and forward, looking the same way.
View moved(View view, const glm::dvec3& right_up_forward, const glm::dvec3& extent);

// The whole volume in the middle of the picture and filling it, seen from where it is seen now.
View fitted(View view, const glm::dvec3& extent);

}  // namespace echolux
