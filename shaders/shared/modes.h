// Interface between C++ and the shaders for view modes. render/view/view_modes.h describes the modes.
#ifndef ECHOLUX_SHADERS_SHARED_MODES_H
#define ECHOLUX_SHADERS_SHARED_MODES_H

#include "shaders/shared/language.h"

ECHOLUX_SHARED_BEGIN

ECHOLUX_CONST mode_composite = 0;
ECHOLUX_CONST mode_mip = 1;
ECHOLUX_CONST mode_minip = 2;
ECHOLUX_CONST mode_average = 3;
ECHOLUX_CONST mode_attenuated_mip = 4;
ECHOLUX_CONST mode_depth_mip = 5;
ECHOLUX_CONST mode_isosurface = 6;
ECHOLUX_CONST mode_mida = 7;
ECHOLUX_CONST mode_points = 8;
ECHOLUX_CONST mode_traced = 9;

// Sets of modes: bit `mode` is set. C++ checks them against the table of modes.
ECHOLUX_CONST modes_mixing_samples = (1 << mode_composite) | (1 << mode_mida);
ECHOLUX_CONST modes_ending_at_surface = (1 << mode_isosurface) | (1 << mode_points);
ECHOLUX_CONST modes_showing_value = (1 << mode_mip) | (1 << mode_minip) | (1 << mode_average);

struct ModesFrame {
    float attenuation_bits;  // attenuated max: optical depth in bits per length at level 1
    float mida_balance;
    float point_radius;  // in voxels
    float padding;
};

ECHOLUX_LAYOUT(ModesFrame, 16 * 1)
ECHOLUX_SHARED_END

#endif
