// Common declarations of the ray caster: variants, bindings, rays.
#include "shaders/shared/bricks.h"
#include "shaders/shared/raycast.h"

#ifndef OWN_GROUPS
layout(local_size_x = group_width, local_size_y = group_height) in;
#endif
layout(constant_id = constant_mode) const int mode = mode_composite;
layout(constant_id = constant_lighting) const int lighting = lighting_off;
layout(constant_id = constant_box) const bool box = false;
layout(constant_id = constant_output) const int output_kind = output_colour;
layout(constant_id = constant_rolling) const int rolling = rolling_off;
layout(constant_id = constant_flow) const int flow_kind = flow_off;
layout(constant_id = constant_cut) const bool is_cut = false;
layout(constant_id = constant_heights) const int heights_kind = heights_off;
layout(constant_id = constant_slices) const int slices_kind = slices_off;
layout(constant_id = constant_light_volume) const bool has_light_volume = false;
layout(constant_id = constant_paged) const bool paged = false;
layout(constant_id = constant_jitter) const bool jittered = false;
layout(constant_id = constant_skip) const bool skips = true;
layout(constant_id = constant_planes) const bool has_planes = false;
layout(constant_id = constant_lights) const int lights_kind = lights_none;
layout(constant_id = constant_channels) const int channels_kind = 0;
layout(constant_id = constant_second) const int second_axis = second_off;
layout(constant_id = constant_roughness) const bool roughness_varies = false;
layout(constant_id = constant_isosurface) const bool has_isosurface = false;  // for traced light
layout(constant_id = constant_software) const bool is_software = true;  // no optimisations for GPUs
layout(constant_id = constant_studio) const int studio = 0;
const bool is_panorama = (studio & studio_panorama) != 0;
const bool has_gradient = (studio & studio_gradient) != 0;
const bool has_caps = (studio & studio_caps) != 0;
const bool has_ground = (studio & studio_ground) != 0;
const bool has_outline = (studio & studio_outline) != 0;
const bool has_sky = (studio & studio_sky) != 0;
const bool mixes_samples = ((1 << mode) & modes_mixing_samples) != 0;
const bool ends_at_surface = ((1 << mode) & modes_ending_at_surface) != 0;
const bool shows_value = ((1 << mode) & modes_showing_value) != 0;

layout(set = 0, binding = binding_frame) uniform Frame { RaycastFrame frame; };
layout(set = 0, binding = binding_volume) uniform sampler3D volume;
// Table of extinctions per depth of the volume.
layout(set = 0, binding = binding_extinctions) uniform texture1D extinctions;
layout(set = 0, binding = binding_colours) uniform texture1D colours;
// Extinction and colour, see transfer.glsl.
layout(set = 0, binding = binding_entries, std430) readonly buffer Entries { uvec2 entries[]; };
layout(set = 0, binding = binding_picture) uniform writeonly image2D picture;
// RayMeasures, or the mean of passes.
layout(set = 0, binding = binding_measures, rgba32f) uniform image2D measures;
// R: smallest value, G: largest value.
layout(set = 0, binding = binding_bricks) uniform texture3D bricks;
layout(set = 0, binding = binding_classes) uniform utexture3D classes;
layout(set = 0, binding = binding_previous_classes) uniform utexture3D previous_classes;
layout(set = 0, binding = binding_previous) uniform sampler3D previous;
layout(set = 0, binding = binding_flow) uniform sampler3D flow;
layout(set = 0, binding = binding_flow_bricks) uniform texture3D flow_bricks;
layout(set = 0, binding = binding_previous_flow) uniform sampler3D previous_flow;
layout(set = 0, binding = binding_previous_flow_bricks) uniform texture3D previous_flow_bricks;
layout(set = 0, binding = binding_flow_colours) uniform texture1D flow_colours;
layout(set = 0, binding = binding_heights) uniform sampler2D heights;  // um; R: top, G: bottom
layout(set = 0, binding = binding_previous_bricks) uniform texture3D previous_bricks;
layout(set = 0, binding = binding_light_volume) uniform sampler3D light_volume;  // R: ambient, G: lamp
// Absorption in bits per cell length; 0 outside.
layout(set = 0, binding = binding_cells) uniform sampler3D cells;
layout(set = 0, binding = binding_cells_target) uniform writeonly image3D cells_target;
layout(set = 0, binding = binding_light_target) uniform writeonly image3D light_target;
layout(set = 0, binding = binding_noise) uniform texture2D noise;
// RGB: slot along each axis; A: 1 for the coarse level.
layout(set = 0, binding = binding_pages) uniform texture3D pages;
// R: upper bound of the extinction per length, or a level of empty cells, see majorants.comp.
layout(set = 0, binding = binding_majorants) uniform texture3D majorants;
layout(set = 0, binding = binding_majorants_target) uniform writeonly image3D majorants_target;
layout(set = 0, binding = binding_majorant_ranges) uniform texture3D majorant_ranges;  // R: min, G: max
layout(set = 0, binding = binding_majorant_ranges_target) uniform writeonly image3D majorant_ranges_target;
// Largest and smallest extinction of 1, 2, 4 ... entries, see majorants.comp.
layout(set = 0, binding = binding_extinction_peaks, std430) readonly buffer Peaks { float extinction_peaks[]; };
layout(set = 0, binding = binding_channel_volumes) uniform sampler3D channel_0;
layout(set = 0, binding = binding_channel_volumes + 1) uniform sampler3D channel_1;
layout(set = 0, binding = binding_channel_volumes + 2) uniform sampler3D channel_2;
layout(set = 0, binding = binding_channel_bricks) uniform texture3D channel_bricks_0;
layout(set = 0, binding = binding_channel_bricks + 1) uniform texture3D channel_bricks_1;
layout(set = 0, binding = binding_channel_bricks + 2) uniform texture3D channel_bricks_2;
layout(set = 0, binding = binding_channel_entries, std430) readonly buffer Channels { uvec4 channel_entries[]; };
layout(set = 0, binding = binding_sky, std430) readonly buffer Sky { SkyTexel sky_texels[]; };
// See shaders/shared/second.h.
layout(set = 0, binding = binding_curve_tables, std430) readonly buffer CurveTables { uint curve_tables[]; };

struct Ray {
    vec3 start, direction;  // texture coordinates; the direction is per unit of length
    vec3 unit;              // unit vector of the direction
    float enter, leave;     // lengths along the ray; leave <= enter: misses the volume
    vec2 pixel;             // from the picture's top left corner
};

// Result of a ray.
struct RayResult {
    vec3 colour;          // premultiplied
    float transmittance;  // of the background
    float value;          // texture value: max, or at the surface
    float distance;       // length along the ray to that value; negative: nothing hit
};

const RayResult nothing = RayResult(vec3(0), 1.0, 0.0, -1.0);

float samples_taken = 0.0;  // for measures: volume samples of this ray
