// Area lights. Both next event estimation of one light and paths that leave the volume contribute; the balance
// heuristic weights the two (E. Veach, L. Guibas, "Optimally combining sampling techniques for Monte Carlo rendering",
// SIGGRAPH 1995).

// A sampled direction towards a light.
struct Look {
    vec3 unit;
    float reach;  // distance to the light
    vec3 radiance;
    float density;  // sampling density per solid angle
};

// Returns the sampling density of a light at this distance, per solid angle; 0 from behind.
float look_density(AreaLightFrame light, vec3 unit, float distance) {
    float facing = -dot(light.normal, unit);
    return facing > 0.0 ? light.chance * distance * distance / (light.area * facing) : 0.0;
}

// Samples a point on a light. `from` is relative to the volume's centre.
Look look_for_light(vec3 from, vec3 u) {
    AreaLightFrame light = frame.trace.lights[0];
    for (int i = 1; i < max_lights; ++i) {
        if (u.z >= frame.trace.lights[i - 1].cumulative_chance) light = frame.trace.lights[i];
    }
    vec2 square = 2.0 * u.xy - 1.0;
    vec2 disc = sqrt(u.x) * vec2(cos(2.0 * pi * u.y), sin(2.0 * pi * u.y));
    vec2 at = mix(square, disc, light.is_disc);
    vec3 way = light.middle + at.x * light.across + at.y * light.along - from;
    float distance = length(way);
    vec3 unit = way / distance;
    return Look(unit, distance, light.radiance.rgb, look_density(light, unit, distance));
}

// Returns the light of area lights for a path that leaves the volume. `from` is its last scattering, `density` that of
// its direction.
vec3 lights_met(vec3 from, vec3 unit, float density) {
    vec3 light = vec3(0);
    for (int i = 0; i < max_lights; ++i) {
        AreaLightFrame here = frame.trace.lights[i];
        float towards = dot(here.normal, unit);
        float distance = dot(here.normal, here.middle - from) / (towards < 0.0 ? towards : -1e-12);
        vec3 beside = from + distance * unit - here.middle;
        vec2 at = vec2(dot(beside, here.across) / max(dot(here.across, here.across), 1e-30),
                       dot(beside, here.along) / max(dot(here.along, here.along), 1e-30));
        bool is_met = towards < 0.0 && distance > 0.0 &&
                      mix(max(abs(at.x), abs(at.y)), length(at), here.is_disc) <= 1.0;
        float looks = look_density(here, unit, distance);
        light += is_met ? here.radiance.rgb * (density / max(density + looks, 1e-30)) : vec3(0);
    }
    return light;
}
