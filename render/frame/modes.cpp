// Uniforms of single view modes for the ray caster.
#include <cmath>

#include "render/camera.h"
#include "render/frame/parts.h"

namespace echolux {

shared::ModesFrame modes_frame(const Shot& shot) {
    const View& view = shot.view;
    const VolumeGrid& grid = shot.scene.grid();
    // Bits per um: shaders compute transmittance with exp2.
    const double bits = view.attenuation * std::log2(std::exp(1.0)) / volume_extent(grid).x;
    return {.facts = glm::vec4(glm::dvec4(bits, view.mida_balance, 0.5 * view.point_size, 0))};
}

}  // namespace echolux
