// Interface between C++ and the shaders for separate B-scan planes.
#ifndef ECHOLUX_SHADERS_SHARED_PLANES_H
#define ECHOLUX_SHADERS_SHARED_PLANES_H

#include "shaders/shared/language.h"

ECHOLUX_SHARED_BEGIN

ECHOLUX_CONST max_planes = 4;

struct PlanesFrame {
    float plane_count;
    float opacity;
    vec2 grid;  // A-scans and B-scans of the volume that holds the planes
    // Lateral, in texture coordinates of the field: xy: first A-scan; zw: vector from it to the last.
    vec4 plane[max_planes];
};

ECHOLUX_LAYOUT(PlanesFrame, 16 * (1 + max_planes))
ECHOLUX_SHARED_END

#endif
