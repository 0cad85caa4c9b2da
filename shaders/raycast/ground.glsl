// Shadow of the volume on the ground below it. The ground is otherwise invisible. Rays from the ground to the free
// lamp, or without one to the light from above, are attenuated by the cells of light_cells.comp.

const int ground_looks = 8;   // rays on two rings within a cone
const int ground_steps = 24;  // per ray through the volume
const float wide = 0.5, narrow = 0.985;  // cosines of the half angles of the sky above and of a lamp

// Returns the length along the ray to the ground, negative if the ray misses it.
float length_to_ground(Ray ray) {
    float met = (frame.studio.ground_depth - ray.start.x) / (ray.direction.x > 0.0 ? ray.direction.x : 1e-12);
    return ray.direction.x > 0.0 && met > frame.near_distance ? met : -1.0;
}

// Returns the transmittance from a point on the ground, in texture coordinates.
float light_left(vec3 at, vec3 unit) {
    vec3 direction = unit * frame.per_extent;
    vec3 slope = mix(direction, vec3(1e-12), lessThan(abs(direction), vec3(1e-12)));
    vec3 a = -at / slope, b = (vec3(1) - at) / slope;
    vec3 near = min(a, b), far = max(a, b);
    float enter = max(max(near.x, near.y), max(near.z, 0.0));
    float leave = min(far.x, min(far.y, far.z));
    if (leave <= enter) return 1.0;
    float each = (leave - enter) / float(ground_steps);
    float bits = 0.0;
    for (int i = 0; i < ground_steps; ++i) {
        bits += textureLod(cells, at + (enter + (float(i) + 0.5) * each) * direction, 0.0).r;
    }
    return exp2(-bits * each / frame.light.cell_length);
}

void add_ground(inout RayResult seen, Ray ray) {
    float met = length_to_ground(ray);
    if (met < 0.0) return;
    vec3 at = ray.start + met * ray.direction;
    bool has_lamp = frame.light.is_lamp_free > 0.0 && frame.light.lamp.x < 0.0;
    vec3 axis = mix(vec3(-1, 0, 0), frame.light.lamp, bvec3(has_lamp));
    vec3 across = normalize(cross(axis, abs(axis.y) < 0.7 ? vec3(0, 1, 0) : vec3(0, 0, 1)));
    vec3 along = cross(axis, across);
    // Blue noise rotates the rings from pixel to pixel.
    float least = has_lamp ? narrow : wide;
    float turn = 6.2831853 * sample_offset(ray.pixel);
    float light = 0.0;
    for (int i = 0; i < ground_looks; ++i) {
        float ring = float(i / 4);
        float cosine = mix(1.0, least, 0.25 + 0.5 * ring);
        float angle = turn + 1.57079633 * float(i) + 0.78539816 * ring;
        float sine = sqrt(1.0 - cosine * cosine);
        light += light_left(at, cosine * axis + sine * (cos(angle) * across + sin(angle) * along));
    }
    seen.transmittance *= 1.0 - frame.studio.ground_shadow * (1.0 - light / float(ground_looks));
}
