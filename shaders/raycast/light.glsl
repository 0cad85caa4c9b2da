// Lighting: gradient shading with a headlight or a distant lamp, attenuated by the light volume. Normals always face
// the eye, because volumes have no outside.

const float ambient = 0.25;
const float diffuse = 0.65;
const float shine = 0.1;  // the weights add up to 1, so white does not clip

struct LightHere {
    float around, lamp;  // fractions of the full light
};

const float off_surface = 1.5;  // in cells in front of the surface: cells on the surface itself are dark

LightHere light_at(vec3 at, vec3 outwards) {
    if (!has_light_volume) return LightHere(1.0, 1.0);
    vec2 parts = textureLod(light_volume, at + outwards * (off_surface * frame.light.cell), 0.0).rg;
    return LightHere(parts.x, parts.y);
}

// Blinn-Phong shading of a surface (J. Blinn, "Models of light reflection for computer synthesized pictures", SIGGRAPH
// 1977).
vec3 shaded(vec3 colour, vec3 normal, vec3 unit, LightHere here) {
    vec3 lamp = mix(-unit, frame.light.lamp, frame.light.is_lamp_free);
    vec3 between = lamp - unit;
    float facing = max(dot(normal, lamp), 0.0);
    float mirrored = max(dot(normal, between) / max(length(between), 1e-6), 0.0);
    return here.around * (colour * (ambient + diffuse * facing * here.lamp) + shine * here.lamp * pow(mirrored, 30.0));
}

// Shading without a surface.
vec3 unshaded(vec3 colour, LightHere here) {
    return colour * (here.around * mix(ambient + shine, 1.0, here.lamp));
}

#include "shaders/raycast/outline.glsl"

// Returns the lit colour at a point. The shading fades out where the gradient is weak and indicates no surface.
vec3 shaded_at(vec3 at, vec3 colour, vec3 unit) {
    if (lighting == lighting_off) return unshaded(colour, light_at(at, -unit));
    vec3 slope = mixes_samples ? quick_gradient(at) : gradient(at);  // faster where a ray is shaded many times
    if (channel_count > 0 && mixes_samples) mix_slopes(at, slope);
    float steepness = length(slope);
    bool is_surface = steepness > 0.0;  // false for NaN
    float trust = is_surface ? shading_below_cut(at) * steepness / (steepness + frame.light.half_gradient) : 0.0;
    vec3 normal = is_surface ? slope * ((dot(slope, unit) > 0.0 ? -1.0 : 1.0) / steepness) : vec3(0);
    LightHere here = light_at(at, mix(-unit, normal, trust));
    vec3 lit = mix(unshaded(colour, here), shaded(colour, normal, unit, here), frame.light.strength * trust);
    return has_outline ? outlined(lit, normal, unit, trust) : lit;
}
