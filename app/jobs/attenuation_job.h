// Job of `echolux attenuation`: computes attenuation coefficients of a volume or scan.
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
    bool overwrites = false;  // replaces any existing file
};

struct AttenuationFile {
    std::vector<std::string> warnings;
    AttenuationStats stats;
    double seconds = 0;  // of the computation alone
};

// Computes coefficients of a volume in memory, called `name` in errors.
struct AttenuatedVolume {
    Volume volume;
    std::vector<std::string> warnings;
    AttenuationStats stats;
    double seconds = 0;
};
AttenuatedVolume attenuated_volume(const Volume& volume, const AttenuationRecipe& recipe, const std::string& name,
                                   Progress& progress);

// Throws Error, also if there is no tissue. An output file only appears once it is complete.
AttenuationFile run(const AttenuationJob& job, Progress& progress);

}  // namespace echolux
