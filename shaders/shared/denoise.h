// What C++ and the shaders share that filter the noise of traced light and say how much of it is left.
#ifndef ECHOLUX_SHADERS_SHARED_DENOISE_H
#define ECHOLUX_SHADERS_SHARED_DENOISE_H

#ifdef __cplusplus
#include <cstdint>
#include <glm/vec4.hpp>
namespace echolux::shared {
using uint = std::uint32_t;
using vec4 = glm::vec4;
#define ECHOLUX_CONST inline constexpr int
#else
#define ECHOLUX_CONST const int
#endif

ECHOLUX_CONST denoise_group = 8;
ECHOLUX_CONST noise_tile = 16;  // pixels along its edges

ECHOLUX_CONST binding_denoise_light = 0;     // to be filtered, or filtered
ECHOLUX_CONST binding_denoise_variance = 1;  // of luminance and of all features together, of their means
ECHOLUX_CONST binding_denoise_albedo = 2;    // as in an accumulation buffer: see PathFeatures
ECHOLUX_CONST binding_denoise_normals = 3;
ECHOLUX_CONST binding_denoise_squares = 4;
ECHOLUX_CONST binding_denoise_raw = 5;  // not filtered
ECHOLUX_CONST binding_denoise_raw_variance = 6;
ECHOLUX_CONST binding_denoise_light_target = 7;
ECHOLUX_CONST binding_denoise_variance_target = 8;
ECHOLUX_CONST binding_denoise_found = 9;
ECHOLUX_CONST denoise_bindings = 10;

ECHOLUX_CONST restored_over = 3;  // pixels to each side over which the filter's error is estimated

// What is read back.
struct DenoiseFound {
    float worst;  // noise of the worst tile: its mean square, in steps of 8 bits
    uint fireflies;
};

struct DenoisePart {
    // 1 / (paths - 1), distance of the filter's taps in pixels; 1: fireflies are hidden; true variance of the filtered
    // light over what adding up independent neighbours makes of it
    vec4 pass;
    vec4 tone;  // as in resolve.comp
    vec4 background;
};

#ifdef __cplusplus
static_assert(sizeof(DenoisePart) == 16 * 3, "the layout of std430");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
