// Isosurface: the first point where the ray reaches the isovalue, refined by bisection between two samples.

bool is_inside(vec3 at, float level) {
    return sampled(at) >= level && is_kept(at);
}

// Returns the index of the first sample at or above the level; samples.count without one.
float first_inside(Samples samples, float level) {
    for (float begin = 0.0; begin < samples.count; begin += frame.run_length) {
        if (skips && max_in_run(samples, begin) < level) continue;
        float end = min(begin + frame.run_length, samples.count);
        for (float i = begin; i < end; i += 1.0) {
            if (is_inside(place(samples, i), level)) return i;
        }
    }
    return samples.count;
}

RayResult isosurface(Ray ray) {
    Samples samples = samples_of(ray);
    float level = frame.lookup.isovalue;
    float inside = first_inside(samples, level);
    if (inside == samples.count) return nothing;
    float outside = max(inside - 1.0, -0.5);
    for (int halving = 0; halving < 10; ++halving) {
        float middle = 0.5 * (outside + inside);
        bool beyond = is_inside(place(samples, middle), level);
        inside = beyond ? middle : inside;
        outside = beyond ? outside : middle;
    }
    vec3 colour = shaded_at(place(samples, inside), frame.surface_colour.rgb, ray.unit);
    return RayResult(colour, 0.0, level, length_to(samples, inside));
}
