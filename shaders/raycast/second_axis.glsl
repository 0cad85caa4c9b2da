// What a place of a volume is beside its value: how steep, and how bent the surface of equal values there. By differences
// over `h`, in texture coordinates along each axis; `per`: 1 / twice these lengths. Whoever includes it says what
// sampled() is.

vec3 slope_over(vec3 at, vec3 h, vec3 per) {
    return vec3(sampled(at + vec3(h.x, 0, 0)) - sampled(at - vec3(h.x, 0, 0)),
                sampled(at + vec3(0, h.y, 0)) - sampled(at - vec3(0, h.y, 0)),
                sampled(at + vec3(0, 0, h.z)) - sampled(at - vec3(0, 0, h.z))) * per;
}

float mixed_slope(vec3 at, vec3 one, vec3 other) {
    return sampled(at + one + other) - sampled(at + one - other) - sampled(at - one + other) + sampled(at - one - other);
}

// Mean curvature (G. Kindlmann et al., "Curvature-based transfer functions for direct volume rendering", IEEE
// Visualization 2003): 1 / radius of a ball that is brighter than what is around it, negative where that is darker.
float curvature_over(vec3 at, vec3 h, vec3 per) {
    vec3 slope = slope_over(at, h, per);
    float square = dot(slope, slope);
    vec3 x = vec3(h.x, 0, 0), y = vec3(0, h.y, 0), z = vec3(0, 0, h.z);
    float middle = 2.0 * sampled(at);
    vec3 bent = 4.0 * per * per * vec3(sampled(at + x) + sampled(at - x) - middle, sampled(at + y) + sampled(at - y) - middle,
                                       sampled(at + z) + sampled(at - z) - middle);
    vec3 twisted = per.xxy * per.yzz * vec3(mixed_slope(at, x, y), mixed_slope(at, x, z), mixed_slope(at, y, z));
    float along = dot(bent, slope * slope) +
                  2.0 * dot(twisted, vec3(slope.x * slope.y, slope.x * slope.z, slope.y * slope.z));
    float whole = square * (bent.x + bent.y + bent.z);
    return square > 0.0 ? 0.5 * (along - whole) / (square * sqrt(square)) : 0.0;
}
