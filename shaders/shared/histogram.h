// Interface between C++ and histogram.comp.
#ifndef ECHOLUX_SHADERS_SHARED_HISTOGRAM_H
#define ECHOLUX_SHADERS_SHARED_HISTOGRAM_H

#ifdef __cplusplus
#include <glm/vec2.hpp>
#include <glm/vec4.hpp>
namespace echolux::shared {
using glm::ivec4;
using glm::vec2;
#define ECHOLUX_CONST inline constexpr int
#else
#define ECHOLUX_CONST const int
#endif

ECHOLUX_CONST histogram_bins = 256;
ECHOLUX_CONST histogram_group = 256;  // invocations, one per bin

// What is counted per voxel.
ECHOLUX_CONST histogram_values = 0;
ECHOLUX_CONST histogram_speeds = 1;  // magnitudes, without zeros
ECHOLUX_CONST histogram_phases = 2;  // magnitudes of the phases of reliable phasors

ECHOLUX_CONST binding_histogram_voxels = 0;
ECHOLUX_CONST binding_histogram_counts = 1;

// A box of a texture, of which every `stride`-th A-scan is counted. bin = texture value * bins.x + bins.y.
struct HistogramPart {
    ivec4 first;   // voxel of the texture; w: stride
    ivec4 extent;  // in voxels; w: number of A-scans to count
    vec2 bins;
    int counted;
};

#ifdef __cplusplus
static_assert(sizeof(HistogramPart) == 44);
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
