// Gradient magnitude and curvature of isosurfaces, from differences over `h` in texture coordinates along each axis.
// `per` is 1 / (2 h) in units of length. The including file defines sampled(). Written as loops, to compile quickly in
// shaders that do not use them.

vec3 slope_over(vec3 at, vec3 h, vec3 per) {
    vec3 slope = vec3(0);
    for (int i = 0; i < 6; ++i) {
        vec3 to = vec3(equal(ivec3(i >> 1), ivec3(0, 1, 2))) * float(1 - 2 * (i & 1));
        slope += to * sampled(at + to * h);
    }
    return slope * per;
}

// Returns the mean curvature of the isosurface (G. Kindlmann et al., "Curvature-based transfer functions for direct
// volume rendering", IEEE Visualization 2003): 1 / radius of a ball brighter than its surroundings, negative for a
// darker one. Samples the 19 points of a 3 x 3 x 3 cube that are not corners.
float curvature_over(vec3 at, vec3 h, vec3 per) {
    vec3 slope = vec3(0), bent = vec3(0), twisted = vec3(0);
    for (int i = 0; i < 27; ++i) {
        vec3 to = vec3(i % 3, i / 3 % 3, i / 9) - 1.0;
        float steps = dot(to, to);
        if (steps > 2.5) continue;
        float value = sampled(at + to * h);
        slope += steps == 1.0 ? to * value : vec3(0);
        bent += (steps == 1.0 ? to * to : steps == 0.0 ? vec3(-2) : vec3(0)) * value;
        twisted += to.xxy * to.yzz * value;
    }
    slope *= per;
    bent *= 4.0 * per * per;
    twisted *= per.xxy * per.yzz;
    float square = dot(slope, slope);
    float along = dot(bent, slope * slope) +
                  2.0 * dot(twisted, vec3(slope.x * slope.y, slope.x * slope.z, slope.y * slope.z));
    float whole = square * (bent.x + bent.y + bent.z);
    return square > 0.0 ? 0.5 * (along - whole) / (square * sqrt(square)) : 0.0;
}
