// What C++, the brick shaders and raycast.comp share about bricks: cubes of voxels whose least and largest value are
// known.
#ifndef ECHOLUX_SHADERS_SHARED_BRICKS_H
#define ECHOLUX_SHADERS_SHARED_BRICKS_H

#ifdef __cplusplus
namespace echolux::shared {
#define ECHOLUX_CONST inline constexpr int
#else
#define ECHOLUX_CONST const int
#endif

ECHOLUX_CONST range_group = 64;   // invocations; eight a brick, along depth
ECHOLUX_CONST brick_group = 4;    // bricks along each axis
ECHOLUX_CONST peaks_group = 16;   // bricks along depth, or four times as many
ECHOLUX_CONST peaks_group_a = 4;  // ... and along A-scans
ECHOLUX_CONST dilate_group = 8;   // bricks along depth and along A-scans
ECHOLUX_CONST dilate_run = 4;     // ... and along B-scans, of an invocation

ECHOLUX_CONST binding_brick_min = 0;     // the source, sampled for its least value
ECHOLUX_CONST binding_brick_max = 1;     // ... and for its largest
ECHOLUX_CONST binding_brick_ranges = 2;  // R: least, G: largest

ECHOLUX_CONST binding_peaks_source = 0;
ECHOLUX_CONST binding_peaks_ranges = 1;

// What peaks are.
ECHOLUX_CONST peaks_u8 = 0;
ECHOLUX_CONST peaks_u16 = 1;
ECHOLUX_CONST peaks_f16 = 2;
ECHOLUX_CONST peaks_f32 = 3;

ECHOLUX_CONST binding_dilate_source = 0;
ECHOLUX_CONST binding_dilate_target = 1;

ECHOLUX_CONST binding_class_ranges = 0;
ECHOLUX_CONST binding_class_limits = 1;
ECHOLUX_CONST binding_class_target = 2;

// What a brick holds, by the transfer function.
ECHOLUX_CONST brick_empty = 0;  // nothing that is seen
ECHOLUX_CONST brick_thin = 1;   // so little that longer steps will do
ECHOLUX_CONST brick_dense = 2;

// For each entry of the transfer table the first entry from there on that is seen at all (low half) and that is dense
// (high half): a range of entries is classified by its two ends.
ECHOLUX_CONST limit_shift = 16;

#ifdef __cplusplus
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
