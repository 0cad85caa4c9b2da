// How what is seen is lit: by the gradient, on both sides, with the lamp at the eye.

// `trust` of the normal: 0 leaves the colour as it is.
vec3 shaded(vec3 colour, vec3 normal, vec3 unit, float trust) {
    float facing = abs(dot(normal, unit));
    vec3 light = colour * (0.25 + 0.65 * facing) + 0.1 * pow(facing, 30.0);  // white stays white: nothing is clipped
    return mix(colour, light, frame.light.shading.x * trust);
}

// The colour of what is seen at a place, by light that comes there.
vec3 shaded_at(vec3 at, vec3 colour, vec3 unit) {
    if (!lit) return colour;
    vec3 slope = gradient(at);
    float steepness = length(slope);
    return shaded(colour, slope / max(steepness, 1e-20), unit, steepness / (steepness + frame.light.shading.y));
}
