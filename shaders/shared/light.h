// Interface between C++ and the shaders for lighting.
#ifndef ECHOLUX_SHADERS_SHARED_LIGHT_H
#define ECHOLUX_SHADERS_SHARED_LIGHT_H

#include "shaders/shared/language.h"

ECHOLUX_SHARED_BEGIN

struct LightFrame {
    float strength;       // of the shading
    float half_gradient;  // gradient at half strength, in texture values per smallest voxel edge
    float ambient_occlusion;
    float shadows;
    vec3 lamp;            // unit vector towards the free lamp, in lengths
    float is_lamp_free;   // 1: free lamp, 0: headlight
    vec3 cell;            // cells of the light volume: size in texture coordinates
    float cell_length;    // mean edge length of a cell
    float ambient_steps;  // number of steps of ambient occlusion
    float lamp_steps;     // number of steps towards the lamp
    vec2 padding;
};

ECHOLUX_LAYOUT(LightFrame, 16 * 4)
ECHOLUX_SHARED_END

#endif
