// Light, as the ray caster has to know it.
#include "render/frame/parts.h"

namespace echolux {
namespace {

constexpr double gradient_at_half = 0.04;  // of the range per smallest voxel edge: weaker gradients are mostly noise

}  // namespace

shared::LightFrame light_frame(const Shot& shot, const TransferFunction& function) {
    const auto [low, high] = function.range;
    const double at_half = gradient_at_half * (high - low) / shot.scene.volume.scale();
    return {.shading = glm::vec4(glm::dvec4(shot.view.lighting_strength, at_half, 0, 0))};
}

}  // namespace echolux
