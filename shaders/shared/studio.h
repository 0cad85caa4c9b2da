// Interface between C++ and the shaders for the surroundings of a volume: ground, background, caps, outlines, sky
// picture and panoramas.
#ifndef ECHOLUX_SHADERS_SHARED_STUDIO_H
#define ECHOLUX_SHADERS_SHARED_STUDIO_H

#include "shaders/shared/language.h"

ECHOLUX_SHARED_BEGIN

// Bits of constant_studio.
ECHOLUX_CONST studio_panorama = 1;
ECHOLUX_CONST studio_gradient = 2;  // of the background
ECHOLUX_CONST studio_caps = 4;
ECHOLUX_CONST studio_ground = 8;
ECHOLUX_CONST studio_outline = 16;
ECHOLUX_CONST studio_sky = 32;  // a sky picture emits light

// A texel of the sky picture, row by row from the zenith.
struct SkyTexel {
    vec3 radiance;  // relative to view.sky
    float density;  // sampling density per solid angle
    // Alias table: A. Walker, "An efficient method for generating discrete random variables", ACM TOMS 3(3), 1977.
    float kept;   // probability of keeping the drawn texel
    float alias;  // texel to use otherwise
    vec2 padding;
};

struct StudioFrame {
    vec2 radians_per_pixel;  // of a panorama, right and down
    vec2 padding_1;
    vec3 lower_background;  // background colour at the lower edge
    float per_height;       // 1 / height of the picture
    vec3 outline_colour;
    float outline_strength;
    float ground_depth;   // texture coordinate
    float ground_shadow;  // strength
    float lamp_share;     // of the lamps in the light
    float outline_sharpness;
    vec2 sky_size;      // columns, rows
    float sky_turn;     // in radians
    float sky_chance;   // probability of sampling the sky
    float cap_colours;  // 0: gray, 1: colours of the curve
    float padding_2;
    vec2 padding_3;
};

ECHOLUX_LAYOUT(StudioFrame, 16 * 6)
ECHOLUX_LAYOUT(SkyTexel, 16 * 2)
ECHOLUX_SHARED_END

#endif
