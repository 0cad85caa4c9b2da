// Light, as the ray caster has to know it.
#include <glm/geometric.hpp>
#include <glm/trigonometric.hpp>

#include "render/camera.h"
#include "render/frame/parts.h"

namespace echolux {
namespace {

constexpr double gradient_at_half = 0.04;  // of the range per smallest voxel edge: weaker gradients are mostly noise

// Unit length, along depth, A-scans, B-scans.
glm::dvec3 towards_lamp(const View& view, const Camera& camera) {
    const Camera::Rays& rays = camera.rays();
    const glm::dvec3 right = glm::normalize(rays.eye_x + rays.ray_x);
    const glm::dvec3 up = -glm::normalize(rays.eye_y + rays.ray_y);
    const double azimuth = glm::radians(view.lamp_azimuth_deg);
    const double elevation = glm::radians(view.lamp_elevation_deg);
    const glm::dvec3 level = std::sin(azimuth) * right - std::cos(azimuth) * glm::normalize(rays.ray);
    return std::cos(elevation) * level + std::sin(elevation) * up;
}

}  // namespace

shared::LightFrame light_frame(const Shot& shot, const TransferFunction& function) {
    const View& view = shot.view;
    const VolumeTexture& volume = shot.scene.volume;
    const auto [low, high] = function.range;
    const double at_half = gradient_at_half * (high - low) / volume.scale();
    const glm::dvec3 lamp = towards_lamp(view, Camera(view, volume_extent(volume.grid())));
    return {.shading = glm::vec4(glm::dvec4(view.lighting_strength, at_half, 0, 0)),
            .lamp = glm::vec4(glm::dvec4(lamp, view.lamp == Lamp::free ? 1 : 0))};
}

}  // namespace echolux
