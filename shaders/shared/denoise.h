// Interface between C++ and the shaders that denoise traced light and measure the remaining noise.
#ifndef ECHOLUX_SHADERS_SHARED_DENOISE_H
#define ECHOLUX_SHADERS_SHARED_DENOISE_H

#include "shaders/shared/language.h"
#include "shaders/shared/trace.h"

ECHOLUX_SHARED_BEGIN

ECHOLUX_CONST denoise_group = 8;
ECHOLUX_CONST noise_tile = 16;  // edge in pixels

ECHOLUX_CONST binding_denoise_light = 0;     // input or filtered light
ECHOLUX_CONST binding_denoise_variance = 1;  // of the means: luminance, sum over all features
ECHOLUX_CONST binding_denoise_albedo = 2;    // as in an accumulation buffer, see PathFeatures
ECHOLUX_CONST binding_denoise_normals = 3;
ECHOLUX_CONST binding_denoise_squares = 4;
ECHOLUX_CONST binding_denoise_raw = 5;  // unfiltered light
ECHOLUX_CONST binding_denoise_raw_variance = 6;
ECHOLUX_CONST binding_denoise_light_target = 7;
ECHOLUX_CONST binding_denoise_variance_target = 8;
ECHOLUX_CONST binding_denoise_result = 9;
ECHOLUX_CONST denoise_bindings = 10;

ECHOLUX_CONST restored_over = 3;  // pixels to each side in the estimate of the filter's error

// Results read back by the host.
struct DenoiseResult {
    float worst;  // mean square noise of the noisiest tile, in steps of 8 bits
    uint fireflies;
};

struct DenoisePart {
    float per_degree;       // 1 / (paths - 1), from squares to variances
    float tap_distance;     // in pixels
    float hides_fireflies;  // 1: yes
    float variance_ratio;   // of the true variance of the filtered light to that of independent neighbours
    ToneFrame tone;
    vec4 background;
};

ECHOLUX_LAYOUT(DenoisePart, 16 * 3)
ECHOLUX_SHARED_END

#endif
