// What the ray caster and the path tracer have to know of what is set up around a volume: the ground, the background,
// caps, outlines, a picture as sky, and pictures all around.
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

// Bits of constant_studio: what of it a picture has.
ECHOLUX_CONST studio_panorama = 1;
ECHOLUX_CONST studio_gradient = 2;  // of the background
ECHOLUX_CONST studio_caps = 4;
ECHOLUX_CONST studio_ground = 8;
ECHOLUX_CONST studio_outline = 16;
ECHOLUX_CONST studio_sky = 32;  // a picture gives light

// A texel of the picture that is the sky, row by row from the zenith.
struct SkyTexel {
    vec4 light;  // as a part of view.sky: red, green, blue; density of looks for it, per solid angle
    vec4 alias;  // A. Walker, "An efficient method for generating discrete random variables", ACM TOMS 3(3), 1977:
                 // share of the looks drawn for this texel that it keeps; the texel that gets the others
};

struct StudioFrame {
    vec4 around;   // of a panorama: radians per pixel to the right and down
    vec4 below;    // the background at the lower edge; 1 / height of the picture
    vec4 outline;  // colour, strength
    vec4 ground;   // where it lies, along the depth in texture coordinates; strength of its shadow; share of the light
                   // that is the lamps'; sharpness of outlines
    vec4 sky;      // texels across and down; how far it is turned, in radians; share of looks for light that are for it
    vec4 caps;     // 0: gray, 1: the colours of the curve
};

#ifdef __cplusplus
static_assert(sizeof(StudioFrame) == 16 * 6, "the layout of std140");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
