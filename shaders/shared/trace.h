// Interface between C++ and the shaders for path tracing, in addition to that of the ray caster.
#ifndef ECHOLUX_SHADERS_SHARED_TRACE_H
#define ECHOLUX_SHADERS_SHARED_TRACE_H

#include "shaders/shared/surface.h"

#ifdef __cplusplus
#include <glm/vec4.hpp>
namespace echolux::shared {
using uvec4 = glm::uvec4;
using vec4 = glm::vec4;
#define ECHOLUX_CONST inline constexpr int
#else
#define ECHOLUX_CONST const int
#endif

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

// A rectangle or disc that emits towards its normal. Lengths are relative to the volume's centre.
struct AreaLightFrame {
    vec4 middle;  // w: cumulative sampling probability of this light and those before it
    vec4 across;  // half of its width; w: 1: a disc
    vec4 along;   // half of its height; w: area
    vec4 normal;  // unit vector; w: sampling probability
    vec4 radiance;
};

struct TraceFrame {
    vec4 medium;  // x: bits to optical depth; y: albedo; z: anisotropy; w: max number of scatterings
    vec4 light;   // x: radiance of the sky; y: irradiance of the lamp; z: cosine of its half angle; w: strength of
                  // surfaces
    vec4 lens;    // x: radius; y: focus distance; z: 1 / half diagonal of the volume; w: 1: stratified paths, 2: also
                  // blue noise over the pixels
    vec4 bricks;  // x: brick edge in voxels; y: alpha of GGX; z: mean facet albedo; w: max extinction, larger values
                  // are opaque too
    vec4 known;   // x: 1 if the extinction depends on the value alone; y: a fault_... constant
    AreaLightFrame lights[max_lights];
    vec4 albedo[albedo_steps / 4];  // of facets, see surface.h
    uvec4 random;                   // seed, number of the path, width of the picture, frame of a movie
};

#ifdef __cplusplus
static_assert(sizeof(TraceFrame) == 16 * (6 + 5 * max_lights + albedo_steps / 4), "the layout of std140");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
