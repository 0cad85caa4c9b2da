// Sections and en face projections as views of the ray caster: an orthographic camera that faces the plane, and
// clipping to a slab.
#pragma once

#include "compute/types.h"
#include "render/view/view.h"

namespace echolux {

// Returns the view that implements view.show; unchanged for the volume. Call it once when a view arrives: everything
// from pages to annotations must use its result. The section fills the picture at zoom 1; target_um moves within its
// plane and roll_deg rotates it.
View section_view(const View& view, const VolumeGrid& grid);

}  // namespace echolux
