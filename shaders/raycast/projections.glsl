// One value for each ray: the largest, and (to come) others.

Seen maximum(Ray ray) {
    Samples samples = samples_of(ray);
    float value = sampled(samples.first);
    float index = 0.0;
    for (float begin = 0.0; begin < samples.count; begin += frame.run.x) {
        if (skips && most_in_run(samples, begin) <= value) continue;
        float end = min(begin + frame.run.x, samples.count);
        for (float i = begin; i < end; i += 1.0) {
            float here = sampled(place(samples, i));
            index = here > value ? i : index;
            value = max(value, here);
        }
    }
    // The lowest tenth of the range fades into the background.
    float opacity = clamp(10.0 * level_of(value), 0.0, 1.0);
    return Seen(colour_of(value) * opacity, 1.0 - opacity, value, length_to(samples, index));
}
