// A sky picture as light source, with next event estimation in proportion to its brightness and multiple importance
// sampling. Its centre is the view from the volume along the B-scans, with A-scans to the right.

struct SkySample {
    vec3 light;
    float density;  // sampling density per solid angle
};

SkySample sky_of(vec3 unit) {
    float longitude = atan(unit.y, unit.z) - frame.studio.sky_turn;
    float latitude = asin(clamp(-unit.x, -1.0, 1.0));
    vec2 part = vec2(fract(0.5 + longitude / (2.0 * pi)), clamp(0.5 - latitude / pi, 0.0, 1.0));
    ivec2 texel = min(ivec2(part * frame.studio.sky_size), ivec2(frame.studio.sky_size) - 1);
    int i = texel.y * int(frame.studio.sky_size.x) + texel.x;
    return SkySample(frame.trace.sky_radiance * sky_texels[i].radiance, frame.studio.sky_chance * sky_texels[i].density);
}

// Samples a texel by its alias table, then a direction uniformly within it.
Look look_for_sky() {
    uvec4 bits = philox(uvec4(random_pixel, random_draws++, 0u), random_key());
    vec4 u = uniform_numbers(bits);
    uint drawn, rest;
    umulExtended(bits.x, uint(frame.studio.sky_size.x * frame.studio.sky_size.y), drawn, rest);
    bool keeps = float(rest) * (1.0 / 4294967296.0) < sky_texels[drawn].kept;
    uint texel = keeps ? drawn : uint(sky_texels[drawn].alias);
    uint columns = uint(frame.studio.sky_size.x);
    float longitude = (float(texel % columns) + u.y) / frame.studio.sky_size.x * 2.0 * pi - pi + frame.studio.sky_turn;
    vec2 ends = sin(0.5 * pi - pi * (vec2(texel / columns) + vec2(0, 1)) / frame.studio.sky_size.y);
    float height = mix(ends.x, ends.y, u.z);
    float level = sqrt(max(1.0 - height * height, 0.0));
    vec3 unit = normalize(vec3(-height, level * sin(longitude), level * cos(longitude)));
    return Look(unit, 1e30, frame.trace.sky_radiance * sky_texels[texel].radiance,
                frame.studio.sky_chance * sky_texels[texel].density);
}

// Returns the light of the sky for a path that leaves the volume. `density` is that of its direction.
vec3 sky_met(vec3 unit, float density) {
    SkySample seen = sky_of(unit);
    return seen.light * (density / max(density + seen.density, 1e-30));
}
