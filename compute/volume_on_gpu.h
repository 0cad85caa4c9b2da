// Postprocessing of volumes in GPU memory between reconstruction and display: converts codes to linear power, filters,
// converts back to codes and writes to the display targets. No voxels pass through the host, only up to 24 KiB of
// histogram counts per volume.
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

// Source B-scan of a target, moved by whole voxels along depth and A-scans. A negative `from` fills the target with 0.
struct WholeMove {
    std::int32_t from = -1, z = 0, x = 0;
};

// Formats of the volumes and the requested postprocessing.
struct VolumeOnGpuWanted {
    VolumeGrid grid;
    std::optional<VolumeGrid> flow;       // at the same positions
    StoredPower stored;                   // meaning of codes
    std::vector<float> power_of_codes;    // power of each code, for integer codes
    std::optional<SpeckleTables> filter;  // its margin is recomputed for each volume
};

// Used by one thread. Calls block until their work is complete. They throw Error{device, out_of_memory}.
class VolumeOnGpu {
  public:
    virtual ~VolumeOnGpu() = default;

    // Converts packed codes in GPU memory to linear power, [b_scan][a_scan][depth], and returns it in GPU memory. The
    // caller may modify it until the next call of read() or filter().
    virtual float* read(const std::byte* voxels) = 0;

    // Replaces NaN in the power with 0.
    virtual void clear_gaps() = 0;

    // Filters the power. Throws Error{bad_setting} if no filter was requested.
    virtual void filter() = 0;

    // Moves the flow for the next write(). `moves` has one entry per B-scan.
    virtual void move_flow(const std::byte* flow, const std::vector<WholeMove>& moves) = 0;

    // Writes voxels, flow and peaks to `to`. If power was read, its codes replace `voxels`. NaN voxels stay NaN.
    virtual void write(std::byte* voxels, const std::byte* flow, const Places& to) = 0;
};

// Throws Error{device} without a GPU or in a build without CUDA.
std::unique_ptr<VolumeOnGpu> volume_on_gpu(const VolumeOnGpuWanted& wanted, const BackendChoice& choice);

}  // namespace echolux
