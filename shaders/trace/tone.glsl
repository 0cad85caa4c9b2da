// Tone mapping from linear light to display light, where white is 1. Reinhard et al., "Photographic tone reproduction
// for digital images", SIGGRAPH 2002, equation 4; filmic: J. Hable, "Uncharted 2: HDR lighting", GDC 2010.
#include "shaders/shared/trace.h"

const float filmic_a = 0.15, filmic_b = 0.50, filmic_c = 0.10, filmic_d = 0.20, filmic_e = 0.02, filmic_f = 0.30;

vec3 filmic(vec3 x) {
    return (x * (filmic_a * x + filmic_c * filmic_b) + filmic_d * filmic_e) /
               (x * (filmic_a * x + filmic_b) + filmic_d * filmic_f) -
           filmic_e / filmic_f;
}

// Maps linear light to linear display light. Avoids branches on `tone`, for which software Vulkan would compile a
// version of the shader per value.
vec3 toned(vec3 light, ToneFrame tone) {
    vec3 x = light * tone.exposure;
    vec3 reinhard = x * (1.0 + x / (tone.white * tone.white)) / (1.0 + x);
    x = mix(x, reinhard, bvec3(tone.curve == float(tone_reinhard)));
    x = mix(x, filmic(x) / filmic(vec3(tone.white)), bvec3(tone.curve == float(tone_filmic)));
    return clamp(x, 0.0, 1.0);
}

// IEC 61966-2-1.
vec3 from_srgb(vec3 code) {
    return mix(code / 12.92, pow((code + 0.055) / 1.055, vec3(2.4)), greaterThan(code, vec3(0.04045)));
}

vec3 to_srgb(vec3 light) {
    return mix(12.92 * light, 1.055 * pow(light, vec3(1.0 / 2.4)) - 0.055, greaterThan(light, vec3(0.0031308)));
}
