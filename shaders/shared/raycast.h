// What C++ and raycast.comp share: bindings, workgroup size, specialization constants and the uniform block.
// Lengths are micrometres (voxels where the spacing is unknown) along depth, A-scans, B-scans from the volume's centre.
#ifndef ECHOLUX_SHADERS_SHARED_RAYCAST_H
#define ECHOLUX_SHADERS_SHARED_RAYCAST_H

#ifdef __cplusplus
#include <cstdint>
#include <glm/vec4.hpp>
namespace echolux::shared {
using vec4 = glm::vec4;
#define ECHOLUX_CONST inline constexpr int
#else
#define ECHOLUX_CONST const int
#endif

ECHOLUX_CONST binding_frame = 0;
ECHOLUX_CONST binding_volume = 1;
ECHOLUX_CONST binding_extinctions = 2;
ECHOLUX_CONST binding_colours = 3;
ECHOLUX_CONST binding_picture = 4;
ECHOLUX_CONST binding_brick_maxima = 5;
ECHOLUX_CONST binding_previous = 6;
ECHOLUX_CONST binding_previous_maxima = 7;

ECHOLUX_CONST group_width = 8;
ECHOLUX_CONST group_height = 8;

ECHOLUX_CONST constant_mode = 0;
ECHOLUX_CONST constant_lit = 1;
ECHOLUX_CONST constant_box = 2;
ECHOLUX_CONST constant_measure = 3;
ECHOLUX_CONST constant_rolling = 4;

ECHOLUX_CONST mode_composite = 0;
ECHOLUX_CONST mode_mip = 1;
ECHOLUX_CONST mode_isosurface = 2;

ECHOLUX_CONST rolling_off = 0;    // the volume is whole
ECHOLUX_CONST rolling_first = 1;  // it is filled in part, with nothing behind
ECHOLUX_CONST rolling_over = 2;   // ... with the previous volume behind

ECHOLUX_CONST transfer_entries = 1024;
ECHOLUX_CONST box_edges = 12;

struct RaycastFrame {
    // The ray of the pixel at (x, y), counted from the picture's middle, right and down: starts at
    // eye + x eye_x + y eye_y and runs along ray + x ray_x + y ray_y.
    vec4 eye, eye_x, eye_y;
    vec4 ray, ray_x, ray_y;
    vec4 per_extent;      // 1 / edge lengths of the volume: lengths to texture coordinates
    vec4 gradient_step;   // of central differences, in texture coordinates
    vec4 per_difference;  // differences to slopes per smallest voxel edge
    vec4 picture;         // width, height in pixels, step length, least transmittance that is followed
    vec4 lookup;          // texture value to table index: scale, offset; extinction of the table to optical depth in
                          // bits per length; texture value of the isosurface
    vec4 lighting;        // strength, gradient (texture value per smallest spacing) at which it is half there,
                          // texture value to value: scale, offset
    vec4 background;      // RGB, opacity 0 or 1
    vec4 box_colour;      // RGB, width in pixels
    vec4 surface_colour;
    vec4 rows;    // of work groups: their number, and the stride (prime to it) in which they are worked through
    vec4 bricks;  // texture coordinates to bricks
    vec4 run;     // samples in a run; the largest texture value of which nothing is seen
    vec4 filled;  // of a volume filled in part: texture coordinate z where that ends, and of the last slice's middle;
                  // texture value of nothing
    vec4 edge[box_edges];        // an end and from there to the other: x, y in pixels from the picture's middle
    vec4 edge_facts[box_edges];  // 1 / squared length; then 0 and a huge number for an edge before the volume, the
                                 // other way round for one behind it
};

#ifdef __cplusplus
static_assert(sizeof(RaycastFrame) == 16 * (19 + 2 * box_edges), "the layout of std140");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
