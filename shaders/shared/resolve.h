// Interface between C++ and resolve.comp.
#ifndef ECHOLUX_SHADERS_SHARED_RESOLVE_H
#define ECHOLUX_SHADERS_SHARED_RESOLVE_H

#include "shaders/shared/language.h"
#include "shaders/shared/trace.h"

ECHOLUX_SHARED_BEGIN

ECHOLUX_CONST resolve_group = 8;

ECHOLUX_CONST binding_resolve_accumulation = 0;
ECHOLUX_CONST binding_resolve_picture = 1;
ECHOLUX_CONST binding_resolve_drawn = 2;  // of paths, see PathFeatures

// Parameters for displaying traced light.
struct ToningFrame {
    ToneFrame tone;
    vec4 background;   // RGB; opacity, 0 or 1
    vec2 first_ray;    // position of the picture's first ray in the buffer: left, top
    float rows_above;  // picture rows above it
    float padding;
    vec3 lower_background;  // background colour at the lower edge
    float per_height;       // 1 / height of the whole picture
};

struct ResolvePart {
    float rays_per_pixel;
    float columns, rows;  // number of rays: the buffer may be larger
    float share;          // weight of the second picture
    ToningFrame toning;
};

ECHOLUX_LAYOUT(ResolvePart, 16 * 5)
ECHOLUX_SHARED_END

#endif
