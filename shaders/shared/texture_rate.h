// Interface between C++ and texture_rate.comp.
#ifndef ECHOLUX_SHADERS_SHARED_TEXTURE_RATE_H
#define ECHOLUX_SHADERS_SHARED_TEXTURE_RATE_H

#include "shaders/shared/language.h"

ECHOLUX_SHARED_BEGIN

ECHOLUX_CONST rate_edge = 64;  // voxels; the texture fits into any cache
ECHOLUX_CONST rate_group = 8;
ECHOLUX_CONST rate_samples = 512;  // per invocation

ECHOLUX_CONST binding_rate_source = 0;
ECHOLUX_CONST binding_rate_sums = 1;

ECHOLUX_SHARED_END

#endif
