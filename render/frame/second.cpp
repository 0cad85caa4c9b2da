// Uniforms of two-dimensional transfer functions for the shaders.
#include "render/camera.h"
#include "render/frame/parts.h"
#include "render/heights.h"

namespace echolux {
namespace {

// Returns the factor from the shader's units to the function's units: um, 1/um, or values per um.
double unit_of(const TransferPlane& plane, const VolumeTexture& volume, const VolumeGrid& grid) {
    const double smallest = std::ranges::min(voxel_edges(grid));
    switch (plane.second) {
        case SecondAxis::gradient: return volume.scale() / smallest;
        case SecondAxis::curvature: return 1 / smallest;
        case SecondAxis::distance: break;
    }
    return 1 / texture_per_um(grid);
}

}  // namespace

// Combines the conversion of units with the position on the axis.
SecondScale second_scale(const TransferPlane& plane, const VolumeTexture& volume, const VolumeGrid& grid,
                         double steps) {
    const double per_second = steps / (plane.to - plane.from);
    return {unit_of(plane, volume, grid) * per_second, -plane.from * per_second};
}

shared::SecondFrame second_frame(const Shot& shot, const TransferFunction& function, std::uint64_t number) {
    if (!function.plane) return {};
    const VolumeGrid& grid = shot.scene.grid();
    const SecondScale scale = second_scale(*function.plane, shot.scene.volume, grid, shared::second_rows - 1);
    // Exact as a float up to 2^24.
    const auto tables = static_cast<double>(number % (1 << 24));
    return {.axis = glm::vec4(glm::dvec4(scale.factor, scale.offset, tables, texture_per_um(grid))),
            .depth = glm::vec4(glm::dvec4(depth_in_texture(grid, 0), 0, 0, 0))};
}

}  // namespace echolux
