// Interface between C++ and the shaders for paged volumes, see render/slots/pages.h.
#ifndef ECHOLUX_SHADERS_SHARED_PAGES_H
#define ECHOLUX_SHADERS_SHARED_PAGES_H

#include "shaders/shared/language.h"

ECHOLUX_SHARED_BEGIN

struct PagesFrame {
    vec3 voxels;             // of the volume
    float coarse_per_voxel;  // coarse voxels per voxel, along each axis
    vec3 page;               // voxels of a page without its border
    float border;            // in voxels
    vec4 per_page;           // 1 / page
    vec4 stored;             // voxels of a slot of the pool
    vec4 per_pool;           // 1 / voxels of the pool
};

ECHOLUX_LAYOUT(PagesFrame, 16 * 5)
ECHOLUX_SHARED_END

#endif
