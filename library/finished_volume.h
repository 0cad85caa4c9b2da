// A volume of a session in host memory, as it is handed out: shared, so that who takes it and who keeps it hold the
// same voxels.
#pragma once

#include <cstdint>
#include <memory>

#include "compute/plan/params.h"
#include "engine/io/volume_file.h"

namespace echolux::library {

struct FinishedVolume {
    std::shared_ptr<const Volume> structure;
    std::shared_ptr<const Volume> flow;  // may be null
    double time_s = 0;
    std::int64_t number = 0;
    std::shared_ptr<const ReconstructionSpec> spec;  // that it was made with
    std::uint64_t plan = 0;                          // number of the settings that it was begun with

    std::int64_t bytes() const {
        return std::ssize(structure->voxels) + (flow ? std::ssize(flow->voxels) : std::int64_t{0});
    }
};

}  // namespace echolux::library
