// Uniforms of the lighting for the ray caster.
#include <glm/geometric.hpp>
#include <glm/trigonometric.hpp>

#include "render/camera.h"
#include "render/frame/parts.h"
#include "render/light_volume.h"

namespace echolux {
namespace {

constexpr double steps_around = 3;         // of ambient occlusion, with doubling length: reaches 7 cells
constexpr double steps_to_lamp = 32;       // of shadow rays, growing by a tenth each: reaches 200 cells
constexpr double gradient_at_half = 0.04;  // of the range per smallest voxel edge; weaker gradients are mostly noise

// Returns the mean edge of a cell of the light volume in um.
double cell_length(const VolumeGrid& grid) {
    const auto [depth, a_scans, b_scans] = light_cells(grid);
    const glm::dvec3 edges = volume_extent(grid) / glm::dvec3(depth, a_scans, b_scans);
    return (edges.x + edges.y + edges.z) / 3;
}

// Returns the unit vector towards the lamp along depth, A-scans, B-scans.
glm::dvec3 towards_lamp(const View& view, const Camera& camera) {
    const auto& [right, up, towards] = camera.orientation();  // same for both eyes
    const double azimuth = glm::radians(view.lamp_azimuth_deg);
    const double elevation = glm::radians(view.lamp_elevation_deg);
    const glm::dvec3 level = std::sin(azimuth) * right + std::cos(azimuth) * towards;
    return std::cos(elevation) * level + std::sin(elevation) * up;
}

}  // namespace

shared::LightFrame light_frame(const Shot& shot, const TransferFunction& function) {
    const View& view = shot.view;
    const VolumeTexture& volume = shot.scene.volume;
    const auto [low, high] = function.range;
    const double at_half = gradient_at_half * (high - low) / volume.scale();
    const glm::dvec3 extent = volume_extent(shot.scene.grid());
    const glm::dvec3 lamp = towards_lamp(view, Camera(view, extent));
    const double cell = cell_length(volume.grid());
    const auto packed = [](double x, double y, double z, double w) { return glm::vec4(glm::dvec4(x, y, z, w)); };
    return {.shading = packed(view.lighting_strength, at_half, view.ambient_occlusion, view.shadows),
            .lamp = packed(lamp.x, lamp.y, lamp.z, view.lamp == Lamp::free ? 1 : 0),
            .cell = packed(cell / extent.x, cell / extent.y, cell / extent.z, cell),
            .steps = packed(view.ambient_occlusion > 0 ? steps_around : 0, view.shadows > 0 ? steps_to_lamp : 0, 0, 0)};
}

}  // namespace echolux
