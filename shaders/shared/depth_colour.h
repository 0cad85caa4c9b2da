// Colour of a depth in mode depth-mip, for the shader and the colour bar.
#ifndef ECHOLUX_SHADERS_SHARED_DEPTH_COLOUR_H
#define ECHOLUX_SHADERS_SHARED_DEPTH_COLOUR_H

#include "shaders/shared/language.h"

ECHOLUX_SHARED_BEGIN

// Runs from yellow at the start of the volume through pink to blue at its end. Computed in OKLab (B. Ottosson, 2020) at
// constant lightness, which encodes the value. Yellowness decreases monotonically, so the scale is readable for
// red-green colour-blind users.
ECHOLUX_INLINE vec3 colour_of_depth(float part) {
    float hue = radians(mix(95.0f, -95.0f, clamp(part, 0.0f, 1.0f)));
    vec3 lab = vec3(0.78f, 0.125f * vec2(cos(hue), sin(hue)));
    vec3 cones = mat3(vec3(1), vec3(0.3963377774f, -0.1055613458f, -0.0894841775f),
                      vec3(0.2158037573f, -0.0638541728f, -1.2914855480f)) *
                 lab;
    vec3 rgb = mat3(4.0767416621f, -1.2684380046f, -0.0041960863f, -3.3077115913f, 2.6097574011f, -0.7034186147f,
                    0.2309699292f, -0.3413193965f, 1.7076147010f) *
               (cones * cones * cones);
    rgb = clamp(rgb, 0.0f, 1.0f);
    return mix(12.92f * rgb, 1.055f * pow(rgb, vec3(1.0f / 2.4f)) - 0.055f, greaterThan(rgb, vec3(0.0031308f)));
}

ECHOLUX_SHARED_END

#endif
