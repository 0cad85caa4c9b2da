// Channels that were not composited with the volume's samples: max projections over the picture, and channels in front
// of a surface.

void lay_over(int c, inout RayResult seen, vec3 colour, float opacity) {
    vec3 light = colour * opacity;
    vec3 together = seen.colour + light * (1.0 - seen.colour);  // independent of the order
    seen.colour = mix(together, seen.colour * (1.0 - opacity) + light, frame.channels.channel[c].is_over);
    seen.transmittance *= 1.0 - opacity;
}

// Labels and sections are ranked by weight. Projections are ranked by value, like those of the volume.
bool goes_by_weight(int c) {
    return has_labels(c) || slices_kind == slices_section;
}

void add_largest(int c, inout RayResult seen, Ray ray) {
    Samples samples = samples_of(ray);
    float most = goes_by_weight(c) ? 0.0 : -beyond_values;
    vec3 colour = vec3(0);
    for (float begin = 0.0; begin < samples.count; begin += frame.run_length) {
        if (skips && goes_by_weight(c) && is_without_channel(c, samples, begin)) continue;
        if (skips && !goes_by_weight(c) && channel_ends(c, middle_of_run(samples, begin)).y <= most) continue;
        float end = min(begin + frame.run_length, samples.count);
        for (float i = begin; i < end; i += 1.0) {
            vec3 at = place(samples, i);
            if (!is_kept(at)) continue;
            if (goes_by_weight(c)) {
                ChannelHere here = channel_at(c, at);
                if (here.weight <= most) continue;
                most = here.weight;
                colour = here.plain;
            } else {
                most = max(most, channel_value(c, at));
            }
        }
    }
    if (goes_by_weight(c)) {
        lay_over(c, seen, colour, min(most, 1.0));
        return;
    }
    if (most == -beyond_values) return;
    int index = channel_index(c, most);
    float level = float(index) / float(channel_entries_of_one - 1);
    lay_over(c, seen, channel_colour(channel_entry(c, index)),
             clamp(10.0 * level, 0.0, 1.0) * frame.channels.channel[c].opacity);
}

// Composites the channels in front of the ray's surface.
void add_channels_before(inout RayResult seen, Ray ray) {
    if (seen.distance >= 0.0) ray.leave = min(ray.leave, seen.distance);
    if (ray.leave <= ray.enter) return;
    Samples samples = samples_of(ray);
    vec3 sum = vec3(0);
    float passed = 1.0;
    for (float begin = 0.0; begin < samples.count && passed >= frame.min_transmittance; begin += frame.run_length) {
        if (is_without_others(samples, begin)) continue;
        float end = min(begin + frame.run_length, samples.count);
        for (float i = begin; i < end; i += 1.0) {
            vec3 at = place(samples, i);
            if (!is_kept(at)) continue;
            float optical = 0.0;
            vec3 colour = vec3(0);
            add_channels(at, samples.spacing, optical, colour);
            float after = passed * exp2(-optical);
            sum += (passed - after) * colour;
            passed = after;
        }
    }
    seen.colour = sum + passed * seen.colour;
    seen.transmittance *= passed;
}

void add_channels_to_picture(inout RayResult seen, Ray ray) {
    if (ends_at_surface) add_channels_before(seen, ray);
    for (int c = 0; c < max_channels; ++c) {
        if (c < channel_count && !is_body(c)) add_largest(c, seen, ray);
    }
}
