// What C++ and raycast.comp share: bindings, workgroup size, specialization constants and the uniform block.
// Lengths are micrometres (voxels where the spacing is unknown) along depth, A-scans, B-scans from the volume's centre.
#ifndef ECHOLUX_SHADERS_SHARED_RAYCAST_H
#define ECHOLUX_SHADERS_SHARED_RAYCAST_H

#include "shaders/shared/channels.h"
#include "shaders/shared/cut.h"
#include "shaders/shared/flow.h"
#include "shaders/shared/light.h"
#include "shaders/shared/modes.h"
#include "shaders/shared/pages.h"
#include "shaders/shared/pass.h"
#include "shaders/shared/planes.h"
#include "shaders/shared/second.h"
#include "shaders/shared/slices.h"
#include "shaders/shared/studio.h"
#include "shaders/shared/trace.h"

#ifdef __cplusplus
#include <cstddef>
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
ECHOLUX_CONST binding_measures = 5;
ECHOLUX_CONST binding_bricks = 6;
ECHOLUX_CONST binding_previous = 7;
ECHOLUX_CONST binding_previous_bricks = 8;
ECHOLUX_CONST binding_flow = 9;
ECHOLUX_CONST binding_flow_bricks = 10;
ECHOLUX_CONST binding_flow_colours = 11;
ECHOLUX_CONST binding_heights = 12;
ECHOLUX_CONST binding_light_volume = 13;
ECHOLUX_CONST binding_pages = 14;
ECHOLUX_CONST binding_noise = 15;
ECHOLUX_CONST binding_classes = 16;
ECHOLUX_CONST binding_previous_classes = 17;
ECHOLUX_CONST binding_cells = 18;
ECHOLUX_CONST binding_cells_target = 19;
ECHOLUX_CONST binding_light_target = 20;
ECHOLUX_CONST binding_entries = 21;
ECHOLUX_CONST binding_previous_flow = 22;
ECHOLUX_CONST binding_previous_flow_bricks = 23;
ECHOLUX_CONST binding_majorants = 24;
ECHOLUX_CONST binding_majorants_target = 25;
ECHOLUX_CONST binding_majorant_ranges = 26;
ECHOLUX_CONST binding_majorant_ranges_target = 27;
ECHOLUX_CONST binding_extinction_peaks = 28;
ECHOLUX_CONST binding_path_albedo = 29;  // means of paths: see PathFeatures
ECHOLUX_CONST binding_path_normals = 30;
ECHOLUX_CONST binding_path_squares = 31;
ECHOLUX_CONST binding_path_drawn = 32;
ECHOLUX_CONST binding_channel_volumes = 33;  // one each: max_channels
ECHOLUX_CONST binding_channel_bricks = 36;
ECHOLUX_CONST binding_channel_entries = 39;
ECHOLUX_CONST binding_sky = 40;  // SkyTexel of each
ECHOLUX_CONST binding_curve_tables = 41;
ECHOLUX_CONST binding_count = 42;

ECHOLUX_CONST group_width = 8;
ECHOLUX_CONST group_height = 4;

// Specialization constants: each makes a program of its own, without the branch.
ECHOLUX_CONST constant_mode = 0;
ECHOLUX_CONST constant_lighting = 1;
ECHOLUX_CONST constant_box = 2;
ECHOLUX_CONST constant_output = 3;
ECHOLUX_CONST constant_rolling = 4;
ECHOLUX_CONST constant_flow = 5;
ECHOLUX_CONST constant_cut = 6;
ECHOLUX_CONST constant_heights = 7;
ECHOLUX_CONST constant_slices = 8;
ECHOLUX_CONST constant_light_volume = 9;
ECHOLUX_CONST constant_paged = 10;
ECHOLUX_CONST constant_jitter = 11;
ECHOLUX_CONST constant_skip = 12;
ECHOLUX_CONST constant_software = 13;
ECHOLUX_CONST constant_planes = 14;
ECHOLUX_CONST constant_lights = 15;
ECHOLUX_CONST constant_channels = 16;
ECHOLUX_CONST constant_studio = 17;
ECHOLUX_CONST constant_second = 18;
ECHOLUX_CONST constant_roughness = 19;
ECHOLUX_CONST constant_isosurface = 20;
ECHOLUX_CONST constant_count = 21;

ECHOLUX_CONST mode_composite = 0;  // the order of ViewMode
ECHOLUX_CONST mode_mip = 1;
ECHOLUX_CONST mode_minip = 2;
ECHOLUX_CONST mode_average = 3;
ECHOLUX_CONST mode_attenuated_mip = 4;
ECHOLUX_CONST mode_depth_mip = 5;
ECHOLUX_CONST mode_isosurface = 6;
ECHOLUX_CONST mode_mida = 7;
ECHOLUX_CONST mode_points = 8;
ECHOLUX_CONST mode_traced = 9;

ECHOLUX_CONST lighting_off = 0;
ECHOLUX_CONST lighting_each = 1;      // sample for itself
ECHOLUX_CONST lighting_together = 2;  // samples that are fetched together, once in the middle of what is seen of them

ECHOLUX_CONST output_colour = 0;
ECHOLUX_CONST output_measures = 1;
ECHOLUX_CONST output_mean = 2;    // of this pass and those before it, premultiplied
ECHOLUX_CONST output_counts = 3;  // of paths: see path.glsl; their mean

ECHOLUX_CONST rolling_off = 0;    // the volume is whole
ECHOLUX_CONST rolling_first = 1;  // it is filled in part, with nothing behind
ECHOLUX_CONST rolling_over = 2;   // ... with the previous volume behind

ECHOLUX_CONST transfer_entries = 1024;  // a power of two
ECHOLUX_CONST box_edges = 12;

struct RaycastFrame {
    // The ray of the pixel at (x, y), counted from the picture's middle, right and down: starts at
    // eye + x eye_x + y eye_y and runs along ray + x ray_x + y ray_y.
    vec4 eye, eye_x, eye_y;
    vec4 ray, ray_x, ray_y;
    vec4 per_extent;  // 1 / edge lengths of the volume: lengths to texture coordinates; then the nearest distance seen
    vec4 gradient_step;   // of central differences, in texture coordinates
    vec4 per_difference;  // differences to slopes per smallest voxel edge
    vec4 picture;         // width, height in pixels, step length, least transmittance that is followed
    vec4 region;          // the part of the picture that is cast: left, top, width, height in pixels
    vec4 lookup;          // texture value to table index: scale, offset; extinction of the table to optical depth in
                          // bits per length; texture value of the isosurface
    vec4 values;          // texture value to value: scale, offset
    vec4 background;      // RGB, opacity 0 or 1
    vec4 box_colour;      // RGB, width in pixels
    vec4 surface_colour;
    vec4 rows;    // of work groups: their number, and the stride (prime to it) in which they are worked through
    vec4 bricks;  // texture coordinates to bricks
    vec4 run;     // samples in a run; samples of a dense run that one of a thin run stands for
    vec4 filled;  // of a volume filled in part: texture coordinate z where that ends, and of the last slice's middle;
                  // texture value of the low end of the range
    ModesFrame modes;
    LightFrame light;
    CutFrame cut;
    SlicesFrame slices;
    FlowFrame flow;
    PassFrame pass;
    PagesFrame pages;
    PlanesFrame planes;
    TraceFrame trace;
    ChannelsFrame channels;
    StudioFrame studio;
    SecondFrame second;
    vec4 edge[box_edges];        // an end and from there to the other: x, y in pixels from the picture's middle; of a
                                 // panorama see panorama.glsl
    vec4 edge_facts[box_edges];  // 1 / squared length; then 0 and a huge number for an edge before the volume, the
                                 // other way round for one behind it
};

// What the ray of a pixel met, see render/renderer.h, is this many pixels of an image of four floats.
ECHOLUX_CONST measure_pixels = 3;

#ifdef __cplusplus
static_assert(sizeof(RaycastFrame) == 16 * (20 + 2 * box_edges) + sizeof(ModesFrame) + sizeof(LightFrame) +
                                          sizeof(CutFrame) + sizeof(SlicesFrame) + sizeof(FlowFrame) +
                                          sizeof(PassFrame) + sizeof(PagesFrame) + sizeof(PlanesFrame) +
                                          sizeof(TraceFrame) + sizeof(ChannelsFrame) + sizeof(StudioFrame) +
                                          sizeof(SecondFrame),
              "the layout of std140");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
