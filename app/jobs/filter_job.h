// Job of `echolux filter`: reduces speckle of a volume or scan, or averages several looks at the same tissue.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/open/open_volume.h"
#include "engine/progress.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {

struct FilterJob : VolumeSource {
    std::vector<std::filesystem::path> others;  // further looks; if any, or with all_volumes, looks are averaged
    bool all_volumes = false;                   // each volume of the series `input` is a look
    std::filesystem::path output;
    SpeckleFilter filter;
    BackendChoice backend;    // filters on this device
    bool overwrites = false;  // replaces any existing file
};

struct FilteredFile {
    std::vector<std::string> warnings;
    std::int64_t looks = 1;      // number averaged
    double effective_looks = 1;  // equivalent number of independent looks
    double seconds = 0;          // of filtering alone
    BackendUsed used{};          // device used for filtering
};

// Filters one volume in memory like the command. The result's provenance describes the filter.
struct FilteredVolume {
    Volume volume;
    std::vector<std::string> warnings;
    double seconds = 0;
    BackendUsed used{};
};
FilteredVolume filtered_volume(Volume volume, const SpeckleFilter& filter, const BackendChoice& backend,
                               Progress& progress);

// Returns the mean of added looks, stored as filter.stored_as, with their number in the provenance.
Volume mean_of(const Compound& looks, const SpeckleFilter& filter);

// Throws Error. An output file only appears once it is complete.
FilteredFile run(const FilterJob& job, Progress& progress);

}  // namespace echolux
