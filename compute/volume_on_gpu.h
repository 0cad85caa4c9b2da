// Volumes of one grid in a GPU's memory, between who reconstructs them and who shows them: codes become linear power,
// power is filtered and becomes codes again, which go to where they are shown. No voxel comes to the host on the way;
// what does is at most 24 KiB of counts a volume.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "compute/place.h"
#include "compute/speckle.h"
#include "compute/types.h"

namespace echolux {

// Which B-scan comes to a place, moved by whole voxels along depth and A-scans; below 0: none, and the place is 0.
struct WholeMove {
    std::int32_t from = -1, z = 0, x = 0;
};

struct VolumeOnGpuWanted {
    VolumeGrid grid;
    std::optional<VolumeGrid> flow;       // of the same positions
    StoredPower stored;                   // how codes say power
    std::vector<float> power_of_codes;    // of each, where codes are whole numbers
    std::optional<SpeckleTables> filter;  // its margin is found anew in each volume
};

// Used by one thread; each call returns when its work is done. Throws Error{device, out_of_memory}.
class VolumeOnGpu {
  public:
    virtual ~VolumeOnGpu() = default;

    // Of packed codes in the GPU's memory, as linear power there: [b_scan][a_scan][depth], to be written by others as
    // well, until the next call of this or filter().
    virtual float* read(const std::byte* voxels) = 0;

    // Power of what was read last that is no number becomes 0.
    virtual void clear_gaps() = 0;

    // What was read last; throws Error{bad_setting} where no filter was wanted.
    virtual void filter() = 0;

    // The flow of the next write() is that of B-scans that were moved, one of `moves` for each B-scan.
    virtual void move_flow(const std::byte* flow, const std::vector<WholeMove>& moves) = 0;

    // Where something was read, what became of it takes the place of `voxels`; voxels that are no numbers stay none.
    // Voxels, flow and peaks go to `to`.
    virtual void write(std::byte* voxels, const std::byte* flow, const Places& to) = 0;
};

// Where there is no GPU, or no CUDA in the build, that is Error{device}.
std::unique_ptr<VolumeOnGpu> volume_on_gpu(const VolumeOnGpuWanted& wanted, const BackendChoice& choice);

}  // namespace echolux
