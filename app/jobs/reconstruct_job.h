// The job behind `echolux reconstruct`: a scan to volume files, B-scan pictures or en-face pictures.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/analysis/figures.h"
#include "engine/interval.h"
#include "engine/offline/reconstruction.h"
#include "engine/progress.h"

namespace echolux {

struct ReconstructJob {
    std::filesystem::path scan;
    std::vector<std::string> settings;  // "recipe.window=hann"
    std::filesystem::path output;
    std::filesystem::path flow;     // a volume file for the flow; empty: none
    std::filesystem::path repeats;  // a table of what aligning repeats found; empty: none
    BackendChoice backend;
    std::optional<std::int64_t> volume;  // nothing: all
    Interval b_scans;                    // end 0: the last
    std::optional<std::int64_t> b_scan;  // a picture of one
    std::optional<Interval> en_face;     // a projection over these depth rows
    std::optional<GrayRange> gray;       // of a picture
    bool overwrites = false;             // replaces what is there, whoever made it
};

struct ReconstructedFiles {
    std::vector<std::filesystem::path> files;
    ReconstructionStats stats;
    std::int64_t volumes = 1;  // that the scan has
    std::vector<std::string> warnings;
};

// Throws Error; nothing is left under a final name unless it is complete.
ReconstructedFiles run(const ReconstructJob& job, Progress& progress);

}  // namespace echolux
