// Interface between C++ and the shaders for path tracing, in addition to that of the ray caster.
#ifndef ECHOLUX_SHADERS_SHARED_TRACE_H
#define ECHOLUX_SHADERS_SHARED_TRACE_H

#include "shaders/shared/language.h"
#include "shaders/shared/surface.h"

ECHOLUX_SHARED_BEGIN

ECHOLUX_CONST majorant_cell = 4;      // bricks per edge of a cell, and cells per edge of a larger cell
ECHOLUX_CONST majorant_levels = 3;    // bricks, cells, larger cells
ECHOLUX_CONST majorant_readers = 64;  // invocations that read a brick together
ECHOLUX_CONST peak_levels = 11;       // of the tables of the max and min of 1, 2, 4 ... 1024 entries

// Faults that tests inject into majorants to check that errors are counted. Same order as MajorantFault.
ECHOLUX_CONST fault_none = 0;
ECHOLUX_CONST fault_half = 1;       // half of the true values
ECHOLUX_CONST fault_no_halo = 2;    // ignores voxels next to a brick
ECHOLUX_CONST fault_ends_only = 3;  // ignores the curve between the ends of a range
ECHOLUX_CONST fault_stale = 4;      // ignores changes of volume and curve

ECHOLUX_CONST lights_none = 0;  // only the sky
ECHOLUX_CONST lights_lamp = 1;
ECHOLUX_CONST lights_area = 2;
ECHOLUX_CONST max_lights = 6;

ECHOLUX_CONST max_scatterings = 65536;  // if unlimited: longer paths are abandoned and counted

// Tone curves, in the order of Tone.
ECHOLUX_CONST tone_linear = 0;
ECHOLUX_CONST tone_reinhard = 1;
ECHOLUX_CONST tone_filmic = 2;

// Tone mapping, see shaders/trace/tone.glsl.
struct ToneFrame {
    float exposure;  // factor of the light
    float curve;     // a tone_... constant
    float white;     // white point
    float padding;
};

// A rectangle or disc that emits towards its normal. Lengths are relative to the volume's centre.
struct AreaLightFrame {
    vec3 middle;
    float cumulative_chance;  // sampling probability of this light and those before it
    vec3 across;              // half of its width
    float is_disc;            // 1: a disc, 0: a rectangle
    vec3 along;               // half of its height
    float area;
    vec3 normal;   // unit vector
    float chance;  // sampling probability
    vec4 radiance;
};

// Properties of the majorants.
struct MajorantFrame {
    float by_value_alone;  // 1: the extinction depends on the value alone
    float fault;           // a fault_... constant
    vec2 padding;
};

struct TraceFrame {
    float optical_per_bit;  // optical depth per bit: ln 2
    float scattering_albedo;
    float anisotropy;
    float scattering_limit;  // max number of scatterings
    float sky_radiance;
    float lamp_irradiance;
    float lamp_cosine;  // of its half angle
    float surface_strength;
    float lens_radius;
    float focus_distance;
    float per_half_diagonal;  // 1 / half diagonal of the volume
    float spreads_paths;      // 1: stratified paths, 2: also blue noise over the pixels
    float brick_edge;         // in voxels
    float facet_alpha;        // of GGX
    float facet_albedo;       // mean
    float max_extinction;     // larger values are opaque too
    MajorantFrame known;
    AreaLightFrame lights[max_lights];
    vec4 albedo[albedo_steps / 4];  // of facets, see surface.h
    uint seed;
    uint path_number;
    uint width;  // of the picture in pixels
    uint movie_frame;
};

ECHOLUX_LAYOUT(TraceFrame, 16 * (6 + 5 * max_lights + albedo_steps / 4))
ECHOLUX_SHARED_END

#endif
