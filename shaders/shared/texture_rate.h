// Interface between C++ and texture_rate.comp.
#ifndef ECHOLUX_SHADERS_SHARED_TEXTURE_RATE_H
#define ECHOLUX_SHADERS_SHARED_TEXTURE_RATE_H

#ifdef __cplusplus
namespace echolux::shared {
#define ECHOLUX_CONST inline constexpr int
#else
#define ECHOLUX_CONST const int
#endif

ECHOLUX_CONST rate_edge = 64;  // voxels; the texture fits into any cache
ECHOLUX_CONST rate_group = 8;
ECHOLUX_CONST rate_samples = 512;  // per invocation

ECHOLUX_CONST binding_rate_source = 0;
ECHOLUX_CONST binding_rate_sums = 1;

#ifdef __cplusplus
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
