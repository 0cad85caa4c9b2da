// Inputs of the shaders that denoise traced light.
#include "shaders/shared/denoise.h"

layout(push_constant) uniform Part { DenoisePart part; };
layout(set = 0, binding = binding_denoise_light) uniform texture2D light;
layout(set = 0, binding = binding_denoise_variance) uniform texture2D variance;
layout(set = 0, binding = binding_denoise_albedo) uniform texture2D albedo;
layout(set = 0, binding = binding_denoise_normals) uniform texture2D normals;
layout(set = 0, binding = binding_denoise_squares) uniform texture2D squares;
layout(set = 0, binding = binding_denoise_raw) uniform texture2D raw;
layout(set = 0, binding = binding_denoise_raw_variance) uniform texture2D raw_variance;
layout(set = 0, binding = binding_denoise_light_target) uniform writeonly image2D light_target;
layout(set = 0, binding = binding_denoise_variance_target) uniform writeonly image2D variance_target;
// DenoiseResult; `worst` holds the bits of a float.
layout(set = 0, binding = binding_denoise_result, std430) buffer Found { uint worst; uint fireflies; };

// ITU-R BT.709, linear.
float luminance(vec3 colour) {
    return dot(colour, vec3(0.2126, 0.7152, 0.0722));
}
