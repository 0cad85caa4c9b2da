// Everything that can be opened, as exhibits. The slow part (reading, simulating, connecting) happens here, in a job;
// what is returned only puts the result on the stage.
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

// Volumes as they are (a file, a folder or pattern of time points), not spectra that make some.
bool holds_volumes(const std::filesystem::path& path);

// A volume file, a 4-D file, a folder of volume files (time points by name) or a scan TOML. Throws Error{bad_file,
// bad_setting, out_of_memory, cancelled}.
MakeExhibit open_exhibit(const std::filesystem::path& path, const std::vector<std::string>& assignments,
                         const BackendChoice& backend, const SeriesBudget& budget, Progress& progress);

// A live source; started when it is on the stage.
MakeExhibit open_live_exhibit(const SourceWanted& source, const BackendChoice& backend, Progress& progress);

}  // namespace echolux
