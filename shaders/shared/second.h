// Interface between C++ and the shaders for transfer functions over two axes, and for roughness by value.
#ifndef ECHOLUX_SHADERS_SHARED_SECOND_H
#define ECHOLUX_SHADERS_SHARED_SECOND_H

#include "shaders/shared/language.h"
#include "shaders/shared/surface.h"

ECHOLUX_SHARED_BEGIN

ECHOLUX_CONST second_off = 0;
ECHOLUX_CONST second_gradient = 1;  // same order as SecondAxis
ECHOLUX_CONST second_curvature = 2;
ECHOLUX_CONST second_distance = 3;

ECHOLUX_CONST second_rows = 256;  // table rows along the second axis, a power of two

// Layout of the buffer in words: roughness per value; then the facet albedos and their mean for roughness_steps values
// of roughness from min_roughness to 1; then extinction and colour of the table's entries, row by row.
ECHOLUX_CONST roughness_steps = 32;
ECHOLUX_CONST roughness_entries = 1024;
ECHOLUX_CONST tables_albedo = roughness_entries;
ECHOLUX_CONST tables_plane = roughness_entries + roughness_steps * (albedo_steps + 1);
#ifdef __cplusplus
inline constexpr float min_roughness = 0.05F;
#else
const float min_roughness = 0.05;
#endif

ECHOLUX_CONST plane_bins = 128;  // per axis of the two-dimensional histogram
ECHOLUX_CONST binding_plane_voxels = 0;
ECHOLUX_CONST binding_plane_heights = 1;
ECHOLUX_CONST binding_plane_counts = 2;

struct SecondFrame {
    float row_scale, row_offset;  // from the second axis to the table's row
    float tables;                 // number of the tables
    float depth_per_um;           // texture coordinates per um
    float zero_depth;             // texture coordinate of depth 0
    float padding_1;
    vec2 padding_2;
};

// A box of a texture, of which every `stride`-th A-scan is counted.
struct PlanePart {
    ivec3 first;  // voxel of the texture
    int stride;
    ivec3 extent;                       // in voxels
    int a_scans;                        // number of A-scans to count
    float value_scale, value_offset;    // from texture value to bin
    float second_scale, second_offset;  // from the second axis to bin
    vec4 gradient_step;                 // as in RaycastFrame
    vec4 per_difference;
    float zero_depth;    // texture coordinate of depth 0
    float depth_per_um;  // texture coordinates per um
    float second;        // a second_... constant
    float padding;
};

ECHOLUX_LAYOUT(SecondFrame, 16 * 2)
ECHOLUX_LAYOUT(PlanePart, 16 * 6)
ECHOLUX_SHARED_END

#endif
