// A finished volume of a session in host memory. Voxels are shared by the caller that takes it and the list of kept
// volumes.
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
    std::shared_ptr<const ReconstructionSpec> spec;  // the spec that reconstructed it
    std::uint64_t plan = 0;                          // number of the settings with which it was started

    std::int64_t bytes() const {
        return std::ssize(structure->voxels) + (flow ? std::ssize(flow->voxels) : std::int64_t{0});
    }
};

}  // namespace echolux::library
