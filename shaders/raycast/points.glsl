// A ball at the centre of each visible voxel. Rays traverse the voxels after J. Amanatides and A. Woo, "A fast voxel
// traversal algorithm for ray tracing", Eurographics 1987. Balls do not leave their voxels, so the first hit is the
// nearest.

// Returns the distance along the ray to the ball of a voxel; negative if missed or clipped. The ray is in voxel
// coordinates, `start` + distance * `speed`, so balls have the proportions of voxels.
float ball_met(Ray ray, vec3 start, vec3 speed, vec3 voxel) {
    float per_length = dot(speed, speed);
    vec3 to = voxel + 0.5 - start;
    float nearest = dot(to, speed) / per_length;
    vec3 off = to - nearest * speed;
    float inside = frame.modes.point_radius * frame.modes.point_radius - dot(off, off);
    float met = nearest - sqrt(max(inside, 0.0) / per_length);
    return inside > 0.0 && met >= ray.enter && met <= ray.leave ? met : -1.0;
}

// Returns nothing if the ball's voxel is invisible.
RayResult point_seen(Ray ray, vec3 middle, float met) {
    if (!is_kept(middle)) return nothing;
    float value = sampled(middle);
    int entry = table_entry(value, middle);
    if (entry_extinction(entry) <= 0.0) return nothing;
    return RayResult(shaded_at(middle, entry_colour(entry), ray.unit), 0.0, value, met);
}

// Returns the first visible ball between two distances along the ray.
RayResult point_between(Ray ray, float from, float to) {
    vec3 size = volume_size();
    vec3 speed = mix(ray.direction, vec3(1e-12), lessThan(abs(ray.direction), vec3(1e-12))) * size;
    vec3 start = ray.start * size;
    vec3 entry = start + from * speed;
    vec3 voxel = floor(entry);
    vec3 next = from + (voxel + step(0.0, speed) - entry) / speed;
    vec3 each = abs(1.0 / speed);
    for (float now = from; now < to;) {
        float met = ball_met(ray, start, speed, voxel);
        if (met >= 0.0) {
            RayResult seen = point_seen(ray, (voxel + 0.5) / size, met);
            if (seen.distance >= 0.0) return seen;
        }
        now = min(next.x, min(next.y, next.z));
        vec3 along = vec3(lessThanEqual(next, vec3(now)));
        voxel += along * sign(speed);
        next += along * each;
    }
    return nothing;
}

RayResult points(Ray ray) {
    Samples samples = samples_of(ray);
    for (float begin = 0.0; begin < samples.count; begin += frame.run_length) {
        if (is_empty(samples, begin)) continue;
        float end = min(begin + frame.run_length, samples.count);
        RayResult seen = point_between(ray, ray.enter + begin * samples.spacing, ray.enter + end * samples.spacing);
        if (seen.distance >= 0.0) return seen;
    }
    return nothing;
}
