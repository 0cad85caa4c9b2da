// Returns the true axial velocities on the grid of a volume.
#include "engine/simulate/truth.h"

#include "compute/error.h"
#include "compute/parallel_for.h"

namespace echolux {

Volume true_flow(const Truth& truth, const VolumeGrid& grid) {
    if (grid.a_scans != truth.facts.a_scans || grid.b_scans != truth.facts.b_scans || !(grid.spacing_um[0] > 0)) {
        throw Error(ErrorCode::bad_setting, "the volume and the truth have different scans", "true flow",
                    "reconstruct all of the simulated scan");
    }
    constexpr double at_rest_of_beat_s = 0;  // time at which the pulse is at its mean
    Volume flow;
    flow.grid = grid;
    flow.grid.type = VoxelType::f32;
    flow.grid.scale = 1;
    flow.grid.offset = 0;
    flow.grid.quantity = "velocity";
    flow.grid.unit = "mm/s";
    flow.voxels.resize(static_cast<std::size_t>(flow.grid.bytes()));
    auto* const velocities = reinterpret_cast<float*>(flow.voxels.data());
    parallel_for(0, grid.b_scans, [&](std::int64_t b) {
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            float* const line = velocities + (b * grid.a_scans + a) * grid.depth;
            for (std::int64_t z = 0; z < grid.depth; ++z) {
                const double depth_um = grid.first_depth_um + static_cast<double>(z) * grid.spacing_um[0];
                line[z] = static_cast<float>(truth.axial_velocity_mm_s(a, b, depth_um, at_rest_of_beat_s));
            }
        }
    });
    return flow;
}

}  // namespace echolux
