// Job of `echolux reconstruct`: turns scans into volume files, B-scan pictures or en face pictures.
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
    std::vector<std::string> settings;  // such as "recipe.window=hann"
    std::filesystem::path output;
    std::filesystem::path flow;     // volume file of the flow; empty: none
    std::filesystem::path repeats;  // table of the alignment of repeats; empty: none
    BackendChoice backend;
    std::optional<std::int64_t> volume;  // std::nullopt: all
    Interval b_scans;                    // `end` 0: to the last
    std::optional<std::int64_t> b_scan;  // write a picture of this B-scan
    std::optional<Interval> en_face;     // write a projection over these depth rows
    std::optional<GrayRange> gray;       // of the picture
    bool overwrites = false;             // replaces any existing file
};

struct ReconstructedFiles {
    std::vector<std::filesystem::path> files;
    ReconstructionStats stats;
    std::int64_t volumes = 1;  // number of volumes in the scan
    std::vector<std::string> warnings;
};

// Throws Error. An output file only appears once it is complete.
ReconstructedFiles run(const ReconstructJob& job, Progress& progress);

}  // namespace echolux
