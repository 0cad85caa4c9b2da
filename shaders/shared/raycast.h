// Interface between C++ and raycast.comp: bindings, workgroup size, specialization constants and the uniform block.
// Lengths are in um (voxels if the spacing is unknown) along depth, A-scans, B-scans from the volume's centre.
#ifndef ECHOLUX_SHADERS_SHARED_RAYCAST_H
#define ECHOLUX_SHADERS_SHARED_RAYCAST_H

#include "shaders/shared/channels.h"
#include "shaders/shared/cut.h"
#include "shaders/shared/flow.h"
#include "shaders/shared/language.h"
#include "shaders/shared/light.h"
#include "shaders/shared/modes.h"
#include "shaders/shared/pages.h"
#include "shaders/shared/pass.h"
#include "shaders/shared/planes.h"
#include "shaders/shared/second.h"
#include "shaders/shared/slices.h"
#include "shaders/shared/studio.h"
#include "shaders/shared/trace.h"

ECHOLUX_SHARED_BEGIN

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
ECHOLUX_CONST binding_path_albedo = 29;  // means over paths, see PathFeatures
ECHOLUX_CONST binding_path_normals = 30;
ECHOLUX_CONST binding_path_squares = 31;
ECHOLUX_CONST binding_path_drawn = 32;
ECHOLUX_CONST binding_channel_volumes = 33;  // max_channels bindings each
ECHOLUX_CONST binding_channel_bricks = 36;
ECHOLUX_CONST binding_channel_entries = 39;
ECHOLUX_CONST binding_sky = 40;  // SkyTexel per texel
ECHOLUX_CONST binding_curve_tables = 41;
ECHOLUX_CONST binding_volume_min = 42;  // the volume, sampled for its min
ECHOLUX_CONST binding_volume_max = 43;
ECHOLUX_CONST binding_count = 44;

// Workgroup size in pixels.
ECHOLUX_CONST group_width = 8;
ECHOLUX_CONST group_height = 4;

// Specialization constants. Each value compiles to a separate program without the branch.
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
ECHOLUX_CONST constant_reduces = 21;
ECHOLUX_CONST constant_count = 22;

ECHOLUX_CONST lighting_off = 0;
ECHOLUX_CONST lighting_each = 1;      // each sample separately
ECHOLUX_CONST lighting_together = 2;  // groups of samples, once at their mean position

ECHOLUX_CONST output_colour = 0;
ECHOLUX_CONST output_measures = 1;
ECHOLUX_CONST output_mean = 2;    // mean of all passes, premultiplied
ECHOLUX_CONST output_counts = 3;  // mean counts of paths, see path.glsl

ECHOLUX_CONST rolling_off = 0;    // the volume is complete
ECHOLUX_CONST rolling_first = 1;  // partially filled, nothing behind it
ECHOLUX_CONST rolling_over = 2;   // partially filled, previous volume behind it

ECHOLUX_CONST transfer_entries = 1024;  // a power of two
ECHOLUX_CONST box_edges = 12;

// From texture value to table entry and optical depth.
struct LookupFrame {
    float entry_scale, entry_offset;
    float bits;      // table extinction to optical depth in bits per length
    float isovalue;  // texture value of the isosurface
};

// Partially filled volumes.
struct FilledFrame {
    float end;         // z coordinate of the end
    float last_slice;  // z coordinate of the centre of the last slice
    float low;         // texture value of the low end of the range
    float padding;
};

struct RaycastFrame {
    // The ray of the pixel at (x, y), relative to the picture's centre (right, down), starts at eye + x eye_x + y eye_y
    // and has the direction ray + x ray_x + y ray_y.
    vec4 eye, eye_x, eye_y;
    vec4 ray, ray_x, ray_y;
    vec3 per_extent;      // 1 / edge lengths of the volume, from lengths to texture coordinates
    float near_distance;  // points closer to the eye are invisible
    vec4 gradient_step;   // central differences, in texture coordinates
    vec4 per_difference;  // differences to gradients per smallest voxel edge
    vec2 picture;         // width, height in pixels
    float step_length;
    float min_transmittance;  // of rays to continue
    vec4 region;              // rendered part of the picture: left, top, width, height in pixels
    LookupFrame lookup;
    float value_scale, value_offset;  // from texture value to value
    vec2 padding_1;
    vec4 background;  // RGB; opacity, 0 or 1
    vec3 box_colour;
    float box_width;  // in pixels
    vec4 surface_colour;
    float row_count;   // number of rows of workgroups
    float row_stride;  // of the order of the rows, coprime to their number
    vec2 padding_2;
    vec4 bricks;        // texture coordinates to bricks
    float run_length;   // samples per run
    float thin_stride;  // of samples in thin runs
    vec2 padding_3;
    FilledFrame filled;
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
    // xy: one end; zw: vector to the other, in pixels from the picture's centre; for panoramas see panorama.glsl.
    vec4 edge[box_edges];
    // x: 1 / squared length; y, z: 0 and a huge number for edges in front of the volume, the reverse for edges behind
    // it
    vec4 edge_facts[box_edges];
};

// Number of pixels (four floats each) that hold the measures of a ray, see render/renderer.h.
ECHOLUX_CONST measure_pixels = 4;

ECHOLUX_LAYOUT(RaycastFrame, 16 * (20 + 2 * box_edges) + sizeof(ModesFrame) + sizeof(LightFrame) + sizeof(CutFrame) +
                                 sizeof(SlicesFrame) + sizeof(FlowFrame) + sizeof(PassFrame) + sizeof(PagesFrame) +
                                 sizeof(PlanesFrame) + sizeof(TraceFrame) + sizeof(ChannelsFrame) +
                                 sizeof(StudioFrame) + sizeof(SecondFrame))
ECHOLUX_SHARED_END

#endif
