// Surfaces in files. In a volume file of any format, slices are surfaces, rows are B-scans and columns are A-scans.
// Values are depths in um from zero delay, or rows if the unit is "rows"; NaN without a surface. Names are stored as
// text. A CSV table has one line per position, with quality and reason.
#pragma once

#include <filesystem>
#include <string>

#include "engine/layers/surfaces.h"

namespace echolux {

// Converts surfaces to a volume of depths. `volume` is the searched volume; its spacing and provenance are copied.
Volume volume_of(const Surfaces& surfaces, const Volume& volume);

// Returns CSV: b_scan,a_scan,surface,depth_um,quality,reason. Depth cells are empty without a surface. The column is
// depth_row if the spacing is unknown.
std::string csv_of(const Surfaces& surfaces, const VolumeGrid& grid);

// Returns whether the file at `path` is such a table, by its heading.
bool is_own_surface_table(const std::filesystem::path& path);

// Reads surfaces of a volume of this grid, as volume_of() or a program with the same format wrote them. Crossing
// surfaces are put in order and counted as moved. Throws Error{bad_file} if the size differs or if depths are in um and
// the spacing is unknown, and as read_volume() does.
Surfaces read_surfaces(const std::filesystem::path& path, const VolumeGrid& grid);

}  // namespace echolux
