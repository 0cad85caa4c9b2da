// Interface between C++ and the shaders for bricks: cubes of voxels with known min and max value.
#ifndef ECHOLUX_SHADERS_SHARED_BRICKS_H
#define ECHOLUX_SHADERS_SHARED_BRICKS_H

#include "shaders/shared/language.h"

ECHOLUX_SHARED_BEGIN

ECHOLUX_CONST range_group = 64;   // invocations, eight per brick, along depth
ECHOLUX_CONST brick_group = 4;    // bricks along each axis
ECHOLUX_CONST peaks_group = 16;   // bricks along depth, or a quarter of them
ECHOLUX_CONST peaks_group_a = 4;  // bricks along A-scans
ECHOLUX_CONST dilate_group = 8;   // bricks along depth and A-scans
ECHOLUX_CONST dilate_run = 4;     // bricks along B-scans per invocation

ECHOLUX_CONST binding_brick_min = 0;     // source, sampled for its min
ECHOLUX_CONST binding_brick_max = 1;     // source, sampled for its max
ECHOLUX_CONST binding_brick_ranges = 2;  // R: min, G: max

ECHOLUX_CONST binding_peaks_source = 0;
ECHOLUX_CONST binding_peaks_ranges = 1;

// Types of peaks.
ECHOLUX_CONST peaks_u8 = 0;
ECHOLUX_CONST peaks_u16 = 1;
ECHOLUX_CONST peaks_f16 = 2;
ECHOLUX_CONST peaks_f32 = 3;

ECHOLUX_CONST binding_dilate_source = 0;
ECHOLUX_CONST binding_dilate_target = 1;

ECHOLUX_CONST binding_class_ranges = 0;
ECHOLUX_CONST binding_class_limits = 1;
ECHOLUX_CONST binding_class_target = 2;

// Content of a brick under the transfer function.
ECHOLUX_CONST brick_empty = 0;  // nothing visible
ECHOLUX_CONST brick_thin = 1;   // faint enough for longer steps
ECHOLUX_CONST brick_dense = 2;

// For each entry of the transfer table: the first visible entry at or after it (low half), and the first dense entry
// (high half). The two ends of a range of entries classify it.
ECHOLUX_CONST limit_shift = 16;

ECHOLUX_SHARED_END

#endif
