#include "compute/missing_voxels.h"

#include <cstring>
#include <limits>

#include "compute/indexing.h"
#include "compute/steps/depth.h"

namespace echolux {
namespace {

constexpr std::uint16_t nan_of_half = 0x7e00;

template <class Code>
VoxelCode bytes_of_code(Code code) {
    VoxelCode bytes{};
    std::memcpy(bytes.data(), &code, sizeof code);
    return bytes;
}

VoxelCode in_texture_code(VoxelType type, double lowest) {
    if (type == VoxelType::f32) return bytes_of_code(static_cast<float>(lowest));
    if (type == VoxelType::f16) return bytes_of_code(Half()(static_cast<float>(lowest)));
    return missing_code(type);
}

}  // namespace

VoxelCode missing_code(VoxelType type) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    if (type == VoxelType::f32) return bytes_of_code(nan);
    if (type == VoxelType::f16) return bytes_of_code(nan_of_half);
    if (type == VoxelType::complex64) return bytes_of_code(std::array{nan, nan});
    return {};
}

VoxelCode missing_structure_code(const Recipe& recipe, VoxelType type, bool in_texture) {
    return in_texture ? in_texture_code(type, recipe.quantity == Quantity::db ? recipe.low : 0) : missing_code(type);
}

VoxelCode missing_flow_code(VoxelType type, bool in_texture) {
    return in_texture ? in_texture_code(type, 0) : missing_code(type);
}

void store_missing(const VolumeGrid& grid, const VoxelTarget& target, std::int64_t first, std::int64_t slices,
                   const VoxelCode& code) {
    const std::int64_t bytes = bytes_of(grid.type);
    for (std::int64_t slice = first; slice < first + slices; ++slice) {
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            std::byte* voxel = static_cast<std::byte*>(target.data) +
                               (slice - target.first_b_scan) * target.b_scan_bytes + a * target.a_scan_bytes;
            for (std::int64_t z = 0; z < grid.depth; ++z, voxel += bytes) std::memcpy(voxel, code.data(), index(bytes));
        }
    }
}

void store_missing(const ReconstructionSpec& spec, const VolumeGrid& grid, const std::optional<VolumeGrid>& flow_grid,
                   const Block& block, const VoxelTargets& targets, bool for_textures) {
    const std::int64_t slices = grid.b_scans / spec.geometry.b_scans, first = block.first_b_scan * slices;
    const VoxelCode code = missing_structure_code(spec.recipe, grid.type, for_textures);
    store_missing(grid, targets.structure, first, block.b_scans * slices, code);
    if (targets.peaks) {
        VolumeGrid peaks = grid;
        peaks.depth = peaks_of(grid.depth, targets.peaks->depths);
        store_missing(peaks, targets.peaks->target, first, block.b_scans * slices, code);
    }
    if (!targets.flow || !flow_grid) return;
    const std::int64_t flow_slices = flow_grid->b_scans / spec.geometry.b_scans;
    store_missing(*flow_grid, *targets.flow, block.first_b_scan * flow_slices, block.b_scans * flow_slices,
                  missing_flow_code(flow_grid->type, for_textures));
}

}  // namespace echolux
