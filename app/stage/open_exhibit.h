// Opens files and sources as exhibits. The slow part (reading, simulating, connecting) runs in these functions, in a
// job. The returned function only creates the exhibit on the renderer.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/stage/stage.h"
#include "compute/backend.h"
#include "engine/acquire/source.h"
#include "engine/offline/series.h"
#include "engine/progress.h"

namespace echolux {

// Returns true for volumes (a file, a folder or pattern of time points), false for spectra.
bool holds_volumes(const std::filesystem::path& path);

// Opens one volume file, a 4-D file, a folder of volume files (time points sorted by name) or a scan TOML. Throws
// Error{bad_file, bad_setting, out_of_memory, cancelled}.
MakeExhibit open_exhibit(const std::filesystem::path& path, const std::vector<std::string>& assignments,
                         const BackendChoice& backend, const SeriesBudget& budget, Progress& progress);

// Opens a live source. It starts when it is shown.
MakeExhibit open_live_exhibit(const SourceWanted& source, const BackendChoice& backend, Progress& progress);

}  // namespace echolux
