// The job behind `echolux convert`: volumes and series of any format into any other, some B-scans at a time, so that
// neither has to fit into memory.
#pragma once

#include <filesystem>
#include <optional>
#include <utility>

#include "engine/interval.h"
#include "engine/io/image_format.h"
#include "engine/progress.h"

namespace echolux {

struct ConvertJob {
    std::filesystem::path input;  // a volume file or folder, a folder of volumes, or a pattern (scan_*.nrrd)
    std::filesystem::path output;
    Interval time_points;  // end 0: the last
    std::optional<VoxelType> type;
    std::optional<std::pair<double, double>> range;  // of values, for integers
    ImageStorage storage;
    bool overwrites = false;  // replaces what is there, whoever made it
};

// How many parts of a volume (`echolux reconstruct --blocks`) each time point was joined of; 1: none was. Throws Error;
// nothing is left under the final name unless it is complete.
std::int64_t run(const ConvertJob& job, Progress& progress);

}  // namespace echolux
