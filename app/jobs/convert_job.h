// Job of `echolux convert`: converts volumes and series between formats, some B-scans at a time, so that neither has to
// fit into memory.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/interval.h"
#include "engine/io/image_format.h"
#include "engine/progress.h"

namespace echolux {

struct ConvertJob {
    std::filesystem::path input;  // a volume file or folder, a folder of volumes, or a pattern (scan_*.nrrd)
    std::filesystem::path output;
    Interval time_points;  // `end` 0: to the last
    std::optional<VoxelType> type;
    std::optional<std::pair<double, double>> range;  // value range of integer types
    ImageStorage storage;
    bool overwrites = false;  // replaces any existing file
};

struct Converted {
    std::int64_t parts = 1;             // parts (`echolux reconstruct --blocks`) joined per time point; 1: not joined
    std::vector<std::string> warnings;  // one line for each fact that the output format cannot store
};

// Throws Error. An output file only appears once it is complete.
Converted run(const ConvertJob& job, Progress& progress);

}  // namespace echolux
