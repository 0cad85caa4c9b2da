// What the heights of a view are counted from, for one volume: maps are read from files, the tissue's surface is found,
// and the volume is flattened where the view asks for it.
#pragma once

#include "engine/io/volume_file.h"
#include "render/heights.h"

namespace echolux {

// Flattens `volume` in place; the maps belong to what it is afterwards. Throws Error{bad_file, bad_setting}.
HeightMaps prepared_heights(const Cut& cut, Volume& volume);

}  // namespace echolux
