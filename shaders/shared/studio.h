// Interface between C++ and the shaders for the surroundings of a volume: ground, background, caps, outlines, sky
// picture and panoramas.
#ifndef ECHOLUX_SHADERS_SHARED_STUDIO_H
#define ECHOLUX_SHADERS_SHARED_STUDIO_H

#ifdef __cplusplus
#include <glm/vec4.hpp>
namespace echolux::shared {
using vec4 = glm::vec4;
#define ECHOLUX_CONST inline constexpr int
#else
#define ECHOLUX_CONST const int
#endif

// Bits of constant_studio.
ECHOLUX_CONST studio_panorama = 1;
ECHOLUX_CONST studio_gradient = 2;  // of the background
ECHOLUX_CONST studio_caps = 4;
ECHOLUX_CONST studio_ground = 8;
ECHOLUX_CONST studio_outline = 16;
ECHOLUX_CONST studio_sky = 32;  // a sky picture emits light

// A texel of the sky picture, row by row from the zenith.
struct SkyTexel {
    vec4 light;  // xyz: radiance relative to view.sky; w: sampling density per solid angle
    vec4 alias;  // alias table (A. Walker, "An efficient method for generating discrete random variables", ACM TOMS
                 // 3(3), 1977): probability of keeping the drawn texel; texel to use otherwise
};

struct StudioFrame {
    vec4 around;   // x, y: radians per pixel of a panorama, right and down
    vec4 below;    // xyz: background at the lower edge; w: 1 / height of the picture
    vec4 outline;  // RGB, strength
    vec4 ground;   // x: position along depth in texture coordinates; y: strength of the shadow; z: the lamps' share of
                   // the light; w: sharpness of outlines
    vec4 sky;      // x, y: columns, rows; z: rotation in radians; w: probability of sampling the sky
    vec4 caps;     // x: 0: gray, 1: colours of the curve
};

#ifdef __cplusplus
static_assert(sizeof(StudioFrame) == 16 * 6, "the layout of std140");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
