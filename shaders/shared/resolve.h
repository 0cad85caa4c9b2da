// Interface between C++ and resolve.comp.
#ifndef ECHOLUX_SHADERS_SHARED_RESOLVE_H
#define ECHOLUX_SHADERS_SHARED_RESOLVE_H

#ifdef __cplusplus
namespace echolux::shared {
#define ECHOLUX_CONST inline constexpr int
#else
#define ECHOLUX_CONST const int
#endif

ECHOLUX_CONST resolve_group = 8;

ECHOLUX_CONST binding_resolve_accumulation = 0;
ECHOLUX_CONST binding_resolve_picture = 1;
ECHOLUX_CONST binding_resolve_drawn = 2;  // of paths, see PathFeatures

#ifdef __cplusplus
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
