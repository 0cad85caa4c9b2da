// A sky picture as light source, with next event estimation in proportion to its brightness and multiple importance
// sampling. Its centre is the view from the volume along the B-scans, with A-scans to the right.

struct SkySample {
    vec3 light;
    float density;  // sampling density per solid angle
};

SkySample sky_of(vec3 unit) {
    float longitude = atan(unit.y, unit.z) - frame.studio.sky.z;
    float latitude = asin(clamp(-unit.x, -1.0, 1.0));
    vec2 part = vec2(fract(0.5 + longitude / (2.0 * pi)), clamp(0.5 - latitude / pi, 0.0, 1.0));
    ivec2 texel = min(ivec2(part * frame.studio.sky.xy), ivec2(frame.studio.sky.xy) - 1);
    vec4 light = sky_texels[texel.y * int(frame.studio.sky.x) + texel.x].light;
    return SkySample(frame.trace.light.x * light.rgb, frame.studio.sky.w * light.a);
}

// Samples a texel by its alias table, then a direction uniformly within it.
Look look_for_sky() {
    uvec4 bits = philox(uvec4(random_pixel, random_draws++, 0u), frame.trace.random.xw);
    vec4 u = uniform_numbers(bits);
    uint drawn, rest;
    umulExtended(bits.x, uint(frame.studio.sky.x * frame.studio.sky.y), drawn, rest);
    vec4 alias = sky_texels[drawn].alias;
    uint texel = float(rest) * (1.0 / 4294967296.0) < alias.x ? drawn : uint(alias.y);
    uint columns = uint(frame.studio.sky.x);
    float longitude = (float(texel % columns) + u.y) / frame.studio.sky.x * 2.0 * pi - pi + frame.studio.sky.z;
    vec2 ends = sin(0.5 * pi - pi * (vec2(texel / columns) + vec2(0, 1)) / frame.studio.sky.y);
    float height = mix(ends.x, ends.y, u.z);
    float level = sqrt(max(1.0 - height * height, 0.0));
    vec3 unit = normalize(vec3(-height, level * sin(longitude), level * cos(longitude)));
    vec4 light = sky_texels[texel].light;
    return Look(unit, 1e30, frame.trace.light.x * light.rgb, frame.studio.sky.w * light.a);
}

// Returns the light of the sky for a path that leaves the volume. `density` is that of its direction.
vec3 sky_met(vec3 unit, float density) {
    SkySample seen = sky_of(unit);
    return seen.light * (density / max(density + seen.density, 1e-30));
}
