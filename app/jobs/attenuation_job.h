// The job behind `echolux attenuation`: a volume or scan as attenuation coefficients.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/open/open_volume.h"
#include "engine/attenuation/attenuation.h"
#include "engine/progress.h"

namespace echolux {

struct AttenuationJob : VolumeSource {
    std::filesystem::path output;
    AttenuationRecipe recipe;
    bool overwrites = false;  // replaces what is there, whoever made it
};

struct AttenuationFile {
    std::vector<std::string> warnings;
    AttenuationStats stats;
    double seconds = 0;  // of the search alone
};

// Coefficients of a volume in memory, called `name` in errors.
struct AttenuatedVolume {
    Volume volume;
    std::vector<std::string> warnings;
    AttenuationStats stats;
    double seconds = 0;
};
AttenuatedVolume attenuated_volume(const Volume& volume, const AttenuationRecipe& recipe, const std::string& name,
                                   Progress& progress);

// Throws Error, also where there is no tissue; nothing is left under the output's name unless it is complete.
AttenuationFile run(const AttenuationJob& job, Progress& progress);

}  // namespace echolux
