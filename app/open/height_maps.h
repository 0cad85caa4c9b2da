// Prepares the reference heights of a view for one volume: reads maps from files, finds the tissue's surface, and
// flattens the volume if the view requests it.
#pragma once

#include "engine/io/volume_file.h"
#include "render/scan_geometry.h"

namespace echolux {

// Flattens `volume` in place. The maps refer to the flattened volume. Throws Error{bad_file, bad_setting}.
HeightMaps prepared_heights(const Cut& cut, Volume& volume);

}  // namespace echolux
