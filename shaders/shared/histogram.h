// Interface between C++ and histogram.comp.
#ifndef ECHOLUX_SHADERS_SHARED_HISTOGRAM_H
#define ECHOLUX_SHADERS_SHARED_HISTOGRAM_H

#include "shaders/shared/language.h"

ECHOLUX_SHARED_BEGIN

ECHOLUX_CONST histogram_bins = 256;
ECHOLUX_CONST histogram_group = 256;  // invocations, one per bin

// What is counted per voxel.
ECHOLUX_CONST histogram_values = 0;
ECHOLUX_CONST histogram_speeds = 1;  // magnitudes, without zeros
ECHOLUX_CONST histogram_phases = 2;  // magnitudes of the phases of reliable phasors

ECHOLUX_CONST binding_histogram_voxels = 0;
ECHOLUX_CONST binding_histogram_counts = 1;

// A box of a texture, of which every `stride`-th A-scan is counted.
struct HistogramPart {
    ivec3 first;  // voxel of the texture
    int stride;
    ivec3 extent;                 // in voxels
    int a_scans;                  // number of A-scans to count
    float bin_scale, bin_offset;  // from texture value to bin
    int counted;                  // a histogram_... constant
};

ECHOLUX_LAYOUT(HistogramPart, 44)
ECHOLUX_SHARED_END

#endif
