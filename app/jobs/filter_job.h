// Filters volumes in memory like `echolux filter`, for the operation and the library: reduces speckle, or averages
// looks.
#pragma once

#include <string>
#include <vector>

#include "compute/backend.h"
#include "engine/io/volume_file.h"
#include "engine/progress.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {

// Reduces speckle of one volume. The result's provenance describes the filter.
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

}  // namespace echolux
