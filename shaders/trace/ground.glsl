// Shadow of the volume on the ground below it. Paths that hit nothing else sample a direction and return whether its
// light reaches the ground. Lights are weighted as at the centre of the volume.

// Returns the transmittance through the volume by residual ratio tracking, as in path.glsl.
float light_through(vec3 start, vec3 unit, vec2 pixel) {
    Ray ray = cut(ray_from(start, unit, pixel));
    if (ray.leave <= ray.enter) return 1.0;
    Flight flight = flight_over(ray.start + ray.enter * ray.direction, unit, ray.leave - ray.enter);
    vec3 size = volume_size();
    float depth = -log(draw().x);
    float passed = 1.0;
    for (int i = 0; i < max_steps && is_inside(flight) && passed > 0.0; ++i) {
        Bounds bounds = bounds_here(flight);
        float rate = bounds.largest - bounds.certain;
        bool looks;
        Flight before = flight;
        float way = fly(flight, rate, bounds.level, depth, looks);
        if (has_isosurface && meets_solid(before, way, flight)) return 0.0;
        passed *= exp(-bounds.certain * way);
        if (!looks) continue;
        vec4 u = draw();
        depth = -log(u.x);
        float more = medium_at(flight.at / size).extinction - bounds.certain;
        passed *= max(1.0 - more / rate, 0.0);
        if (is_lost(passed, u.y)) break;
    }
    return passed;
}

// Negative if the ray misses the ground.
float length_to_ground(Ray ray) {
    float met = (frame.studio.ground_depth - ray.start.x) / (ray.direction.x > 0.0 ? ray.direction.x : 1e-12);
    return ray.direction.x > 0.0 && met > frame.near_distance ? met : -1.0;
}

// Returns the opacity of the shadow where a ray hits the ground.
float shadow_on_ground(Ray ray) {
    float met = length_to_ground(ray);
    if (met < 0.0) return 0.0;
    vec3 at = ray.start + met * ray.direction;
    vec3 from = (at - 0.5) / frame.per_extent;
    vec4 u = draw();
    vec3 unit = turned(vec3(-1, 0, 0), sqrt(u.x), 2.0 * pi * u.y);
    if (has_sky) unit = look_for_sky().unit;
    if (u.z < frame.studio.lamp_share) {
        if (lights_kind == lights_area) unit = look_for_light(from, draw().xyz).unit;
        if (lights_kind == lights_lamp) unit = towards_lamp(towards_eye(ray, at).xyz, draw().xy);
    }
    if (unit.x >= 0.0) return 0.0;  // from below the ground
    return frame.studio.ground_shadow * (1.0 - light_through(from, unit, ray.pixel));
}
