// Interface between C++ and the shaders for single view modes.
#ifndef ECHOLUX_SHADERS_SHARED_MODES_H
#define ECHOLUX_SHADERS_SHARED_MODES_H

#ifdef __cplusplus
namespace echolux::shared {
#endif

struct ModesFrame {
    float attenuation_bits;  // attenuated max: optical depth in bits per length at level 1
    float mida_balance;
    float point_radius;  // in voxels
    float padding;
};

#ifdef __cplusplus
static_assert(sizeof(ModesFrame) == 16 * 1, "the layout of std140");
}  // namespace echolux::shared
#endif

#endif
