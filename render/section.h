// Sections and en face projections as views of their own: the ray caster with an orthographic camera that faces the
// plane, cut to a slab.
#pragma once

#include "compute/types.h"
#include "render/view/view.h"

namespace echolux {

// The view of the volume that shows what view.show asks for; the view itself where that is the volume. To be taken
// once, where a view comes in: all that follows, from pages to annotations, goes by it. The section fills the picture
// at zoom 1; target_um moves along its plane, roll_deg turns it.
View section_view(const View& view, const VolumeGrid& grid);

}  // namespace echolux
