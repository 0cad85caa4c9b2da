// How what is seen is lit: by the gradient, with the lamp at the eye or far away. A surface is turned so that it faces
// the eye: volumes have no outside.

vec3 towards_lamp(vec3 unit) {
    return mix(-unit, frame.light.lamp.xyz, frame.light.lamp.w);
}

// White stays white: nothing is clipped.
vec3 shaded(vec3 colour, vec3 normal, vec3 unit) {
    vec3 lamp = towards_lamp(unit);
    vec3 between = lamp - unit;
    float facing = max(dot(normal, lamp), 0.0);
    float shine = max(dot(normal, between) / max(length(between), 1e-6), 0.0);
    return colour * (0.25 + 0.65 * facing) + 0.1 * pow(shine, 30.0);
}

// The colour of what is seen at a place, by light that comes there. Where the gradient is weak, it says nothing of a
// surface and the colour stays as it is.
vec3 shaded_at(vec3 at, vec3 colour, vec3 unit) {
    if (!lit) return colour;
    vec3 slope = gradient(at);
    float steepness = length(slope);
    if (steepness > 0.0) {  // it is a number
        float trust = steepness / (steepness + frame.light.shading.y);
        vec3 normal = slope * ((dot(slope, unit) > 0.0 ? -1.0 : 1.0) / steepness);
        colour = mix(colour, shaded(colour, normal, unit), frame.light.shading.x * trust);
    }
    return colour;
}
