// The job behind `echolux filter`: less speckle in a volume or scan, or the mean of several looks at the same tissue.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/open/open_volume.h"
#include "engine/progress.h"
#include "engine/speckle/filter_volume.h"

namespace echolux {

struct FilterJob : VolumeSource {
    std::vector<std::filesystem::path> others;  // further looks; with them, or with all_volumes, looks are averaged
    bool all_volumes = false;                   // every volume of `input`, a series, is a look
    std::filesystem::path output;
    SpeckleFilter filter;
    BackendChoice backend;    // that filters
    bool overwrites = false;  // replaces what is there, whoever made it
};

struct FilteredFile {
    std::vector<std::string> warnings;
    std::int64_t looks = 1;      // that were averaged
    double effective_looks = 1;  // as how many independent ones they count
    double seconds = 0;          // of filtering alone
    ProcessorUsed used{};        // that filtered
};

// A volume in memory, filtered as the command does it; `volume` says how.
struct FilteredVolume {
    Volume volume;
    std::vector<std::string> warnings;
    double seconds = 0;
    ProcessorUsed used{};
};
FilteredVolume filtered_volume(Volume volume, const SpeckleFilter& filter, const BackendChoice& backend,
                               Progress& progress);

// The mean of looks that were added with filter.stored_as, which says how many there were.
Volume mean_of(const Compound& looks, const SpeckleFilter& filter);

// Throws Error; nothing is left under the output's name unless it is complete.
FilteredFile run(const FilterJob& job, Progress& progress);

}  // namespace echolux
