// Surfaces in files. A volume file of any format has a slice for each surface, a row for each B-scan, a column for each
// A-scan: depths in um from zero delay (rows where the unit says so), NaN where there is none; names travel as text. A
// table (CSV) has a line for each place, with quality and reason.
#pragma once

#include <filesystem>
#include <string>

#include "engine/layers/surfaces.h"

namespace echolux {

// `volume`: that in which they were found; its spacing and provenance go along.
Volume volume_of(const Surfaces& surfaces, const Volume& volume);

// b_scan,a_scan,surface,depth_um,quality,reason; an empty cell where there is no depth. depth_row where the spacing is
// unknown.
std::string csv_of(const Surfaces& surfaces, const VolumeGrid& grid);

// Whether a table of ours stands there, by its heading.
bool is_own_surface_table(const std::filesystem::path& path);

// A file that volume_of() made, or another program of the same form, for a volume of this grid. Surfaces that cross are
// put in order, and counted as moved. Throws Error{bad_file} for another size and for um in a volume of unknown
// spacing, as read_volume() does besides.
Surfaces read_surfaces(const std::filesystem::path& path, const VolumeGrid& grid);

}  // namespace echolux
