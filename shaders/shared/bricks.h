// What C++, brick_max.comp and raycast.comp share about bricks: cubes of voxels whose largest value is known.
#ifndef ECHOLUX_SHADERS_SHARED_BRICKS_H
#define ECHOLUX_SHADERS_SHARED_BRICKS_H

#ifdef __cplusplus
namespace echolux::shared {
#define ECHOLUX_CONST inline constexpr int
#else
#define ECHOLUX_CONST const int
#endif

ECHOLUX_CONST brick_edge = 4;   // voxels
ECHOLUX_CONST brick_reach = 7;  // half voxels around it for which its largest value holds too, interpolation included
ECHOLUX_CONST brick_group = 4;

ECHOLUX_CONST binding_brick_source = 0;
ECHOLUX_CONST binding_brick_target = 1;

#ifdef __cplusplus
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
