// Which variant of the ray caster's shader makes a picture: the values of its specialization constants.
#pragma once

#include "render/raycaster.h"

namespace echolux {

RaycastConstants raycast_constants(const Shot& shot, bool is_software);

// Whether a picture asks for the cells of the light volume.
bool has_cells(const RaycastConstants& constants);

// Whether light is followed: where passes are summed, of whole volumes. What is cast at once is the composite.
bool is_traced(const Shot& shot);
ViewMode mode_of(const Shot& shot);

// lighting_off .. lighting_together: where rays are apart, as in pictures that move, light is coarser too.
int lighting_of(const Shot& shot);

}  // namespace echolux
