// What the path tracer has to know beside what the ray caster knows.
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

ECHOLUX_CONST majorant_cell = 4;      // bricks along each edge of a cell, and cells along each edge of a larger one
ECHOLUX_CONST majorant_levels = 3;    // bricks, cells, larger cells
ECHOLUX_CONST majorant_readers = 64;  // invocations that read a brick together
ECHOLUX_CONST peak_levels = 11;       // of a table of the largest of 1, 2, 4 ... 1024 entries, and of one of the least

// What tests plant in majorants, to see that what is wrong with them is counted: the order of MajorantFault.
ECHOLUX_CONST fault_none = 0;
ECHOLUX_CONST fault_half = 1;       // half of what they are
ECHOLUX_CONST fault_no_halo = 2;    // voxels beside a brick are forgotten
ECHOLUX_CONST fault_ends_only = 3;  // what the curve holds between the ends of a range is forgotten
ECHOLUX_CONST fault_stale = 4;      // another volume or curve changes nothing

ECHOLUX_CONST lights_none = 0;  // beside the sky
ECHOLUX_CONST lights_lamp = 1;
ECHOLUX_CONST lights_area = 2;
ECHOLUX_CONST max_lights = 6;

ECHOLUX_CONST max_scatterings = 65536;  // where no limit is wanted: paths that come so far are given up, and counted

// Tone curves: the order of Tone.
ECHOLUX_CONST tone_linear = 0;
ECHOLUX_CONST tone_reinhard = 1;
ECHOLUX_CONST tone_filmic = 2;

// A rectangle or a disc that shines to the side of its normal. Lengths from the volume's middle.
struct AreaLightFrame {
    vec4 middle;  // and, of all looks for a light, the share that is for this one or one before it
    vec4 across;  // half of its width; 1: a disc
    vec4 along;   // half of its height; area
    vec4 normal;  // of length one; share of the looks
    vec4 radiance;
};

struct TraceFrame {
    vec4 medium;  // bits to optical depth; share of the light that is scattered; anisotropy; most scatterings
    vec4 light;   // radiance of the sky, irradiance of the lamp, cosine of half its angle, strength of surfaces
    vec4 lens;    // its radius, and how far before it is what is sharp; 1 / half the volume's diagonal; 1: paths are spread evenly;
                  // 2: and from pixel to pixel
    vec4 bricks;  // voxels along the edge of a brick; GGX's alpha; mean albedo of facets; largest extinction: more is
                  // opaque too
    vec4 known;   // 1 where the extinction of a place is known by its value alone, else 0; fault_...
    AreaLightFrame lights[max_lights];
    vec4 albedo[albedo_steps / 4];  // of facets: see surface.h
    uvec4 random;                   // seed, number of the path, width of the picture, frame of a movie
};

#ifdef __cplusplus
static_assert(sizeof(TraceFrame) == 16 * (6 + 5 * max_lights + albedo_steps / 4), "the layout of std140");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
