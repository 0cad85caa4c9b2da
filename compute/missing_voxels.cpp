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

void store_line(std::byte* line, std::int64_t count, VoxelType type, const VoxelCode& code) {
    const std::int64_t bytes = bytes_of(type);
    for (std::int64_t z = 0; z < count; ++z, line += bytes) std::memcpy(line, code.data(), index(bytes));
}

// Calls use(line) for each A-scan of some slices.
template <class Use>
static void each_line(const VolumeGrid& grid, const VoxelTarget& target, std::int64_t first, std::int64_t slices,
                      const Use& use) {
    for (std::int64_t slice = first; slice < first + slices; ++slice) {
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            use(static_cast<std::byte*>(target.data) + (slice - target.first_b_scan) * target.b_scan_bytes +
                a * target.a_scan_bytes);
        }
    }
}

static void replace_nan(const VolumeGrid& grid, const VoxelTarget& target, std::int64_t first, std::int64_t slices,
                        const VoxelCode& code) {
    if (!can_be_nan(grid.type)) return;
    const std::size_t bytes = index(bytes_of(grid.type));
    const std::uint32_t exponent = grid.type == VoxelType::f32 ? 0x7f800000u : 0x7c00u;
    const std::uint32_t magnitude = grid.type == VoxelType::f32 ? 0x7fffffffu : 0x7fffu;
    each_line(grid, target, first, slices, [&](std::byte* voxel) {
        for (std::int64_t z = 0; z < grid.depth; ++z, voxel += bytes) {
            std::uint32_t bits = 0;  // f16 is in the low half on little-endian machines
            std::memcpy(&bits, voxel, bytes);
            if ((bits & magnitude) > exponent) std::memcpy(voxel, code.data(), bytes);
        }
    });
}

void store_missing(const VolumeGrid& grid, const VoxelTarget& target, std::int64_t first, std::int64_t slices,
                   const VoxelCode& code) {
    each_line(grid, target, first, slices, [&](std::byte* line) { store_line(line, grid.depth, grid.type, code); });
}

// Calls use(grid, target, first slice, slices, is_flow) for each target of a block.
template <class Use>
static void each_target(const ReconstructionSpec& spec, const VolumeGrid& grid,
                        const std::optional<VolumeGrid>& flow_grid, const Block& block, const VoxelTargets& targets,
                        const Use& use) {
    const std::int64_t slices = grid.b_scans / spec.geometry.b_scans;
    use(grid, targets.structure, block.first_b_scan * slices, block.b_scans * slices, false);
    if (targets.peaks) {
        VolumeGrid peaks = grid;
        peaks.depth = peaks_of(grid.depth, targets.peaks->depths);
        use(peaks, targets.peaks->target, block.first_b_scan * slices, block.b_scans * slices, false);
    }
    if (!targets.flow || !flow_grid) return;
    const std::int64_t flow_slices = flow_grid->b_scans / spec.geometry.b_scans;
    use(*flow_grid, *targets.flow, block.first_b_scan * flow_slices, block.b_scans * flow_slices, true);
}

void store_missing(const ReconstructionSpec& spec, const VolumeGrid& grid, const std::optional<VolumeGrid>& flow_grid,
                   const Block& block, const VoxelTargets& targets) {
    each_target(spec, grid, flow_grid, block, targets,
                [](const VolumeGrid& of, const VoxelTarget& to, std::int64_t first, std::int64_t slices, bool) {
                    store_missing(of, to, first, slices, missing_code(of.type));
                });
}

void replace_missing(const ReconstructionSpec& spec, const VolumeGrid& grid, const std::optional<VolumeGrid>& flow_grid,
                     const Block& block, const VoxelTargets& targets) {
    each_target(
        spec, grid, flow_grid, block, targets,
        [&](const VolumeGrid& of, const VoxelTarget& to, std::int64_t first, std::int64_t slices, bool is_flow) {
            replace_nan(
                of, to, first, slices,
                is_flow ? missing_flow_code(of.type, true) : missing_structure_code(spec.recipe, of.type, true));
        });
}

}  // namespace echolux
