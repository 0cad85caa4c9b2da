// Specialization constants of the ray caster's shader, which select the variant for a picture.
#pragma once

#include "render/raycaster.h"

namespace echolux {

// Returns the constants for a picture.
RaycastConstants raycast_constants(const Shot& shot, bool is_software);

// Returns true if a picture needs the cells of the light volume.
bool has_cells(const RaycastConstants& constants);

// is_traced() returns true if light paths are traced: accumulated passes of complete volumes. Single passes are ray
// cast. mode_of() returns the mode that is actually rendered.
bool is_traced(const Shot& shot);
ViewMode mode_of(const Shot& shot);

// Returns lighting_off to lighting_together. With widely spaced rays, as in motion, lighting is coarser too.
int lighting_of(const Shot& shot);

}  // namespace echolux
