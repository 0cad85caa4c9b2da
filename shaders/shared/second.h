// What C++ and the shaders share about transfer functions over two axes, and about roughness by value.
#ifndef ECHOLUX_SHADERS_SHARED_SECOND_H
#define ECHOLUX_SHADERS_SHARED_SECOND_H

#include "shaders/shared/surface.h"

#ifdef __cplusplus
#include <glm/vec4.hpp>
namespace echolux::shared {
using ivec4 = glm::ivec4;
using vec4 = glm::vec4;
#define ECHOLUX_CONST inline constexpr int
#else
#define ECHOLUX_CONST const int
#endif

ECHOLUX_CONST second_off = 0;
ECHOLUX_CONST second_gradient = 1;  // the order of SecondAxis
ECHOLUX_CONST second_curvature = 2;
ECHOLUX_CONST second_distance = 3;

ECHOLUX_CONST second_rows = 256;  // of the table, along the second axis; a power of two

// Words of a buffer: roughness of each value; for roughness_steps of them from least_roughness to 1 the albedos of
// facets and their mean; then the table's entries, extinction and colour of each, row by row.
ECHOLUX_CONST roughness_steps = 32;
ECHOLUX_CONST roughness_entries = 1024;
ECHOLUX_CONST tables_albedo = roughness_entries;
ECHOLUX_CONST tables_plane = roughness_entries + roughness_steps * (albedo_steps + 1);
#ifdef __cplusplus
inline constexpr float least_roughness = 0.05F;
#else
const float least_roughness = 0.05;
#endif

ECHOLUX_CONST plane_bins = 128;  // of a histogram over both axes, along each
ECHOLUX_CONST binding_plane_voxels = 0;
ECHOLUX_CONST binding_plane_heights = 1;
ECHOLUX_CONST binding_plane_counts = 2;

struct SecondFrame {
    vec4 axis;   // to the row of the table: scale, offset; number of the tables; 1 / um: depths
    vec4 depth;  // texture coordinate of the depth 0
};

// A box of a texture, of which every `stride`-th A-scan is counted.
struct PlanePart {
    ivec4 first;   // voxel of the texture, w: stride
    ivec4 extent;  // voxels, w: A-scans that are counted
    vec4 bins;     // to bins: scale and offset of texture values, of what is counted on the second axis
    vec4 step;     // as gradient_step of the ray caster's frame
    vec4 per;      // per_difference
    vec4 depth;    // texture coordinates: of the depth 0, per um; 1: SecondAxis
};

#ifdef __cplusplus
static_assert(sizeof(SecondFrame) == 16 * 2 && sizeof(PlanePart) == 16 * 6, "the layout of std140");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
