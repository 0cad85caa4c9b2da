// Sections and en face projections as views of their own: the ray caster with an orthographic camera that faces the
// plane, cut to a slab.
#pragma once

#include "compute/types.h"
#include "render/view.h"

namespace echolux {

// The view of the volume that shows what view.show asks for; the view itself where that is the volume. Whoever
// draws over the picture takes it for its camera, as the ray caster does. The section fills the
// picture at zoom 1; target_um moves along its plane, roll_deg turns it.
View section_view(const View& view, const VolumeGrid& grid);

}  // namespace echolux
