// Maximum intensity difference accumulation: S. Bruckner, E. Groeller, "Instant volume visualization using maximum
// intensity difference accumulation", Computer Graphics Forum 28(3), 2009. Composites like composite.glsl, but samples
// that are brighter than all earlier ones shine through them. The balance interpolates between compositing (-1), MIDA
// (0) and the max projection (1).

RayResult mida(Ray ray) {
    RayResult seen = nothing;
    seen.value = -beyond_values;
    Samples samples = samples_of(ray);
    float bits = frame.lookup.bits * samples.spacing;
    float balance = frame.modes.mida_balance;
    float yielding = 1.0 + min(balance, 0.0);
    float brightest = 0.0;  // largest level up to here
    for (float begin = 0.0; begin < samples.count; begin += frame.run_length) {
        if (is_empty(samples, begin) && is_without_others(samples, begin)) continue;
        bool is_hidden = seen.transmittance < frame.min_transmittance;
        if (is_hidden && brightest == 1.0) break;
        if (is_hidden && max_in_run(samples, begin) <= seen.value) continue;
        float end = min(begin + frame.run_length, samples.count);
        for (float i = begin; i < end; i += 1.0) {
            vec3 at = place(samples, i);
            if (!is_kept(at)) continue;
            float here = sampled(at);
            int index = table_entry(here, at);
            float optical = entry_extinction(index) * bits;
            vec3 colour = vec3(0);
            if (has_others() || optical > 0.0) colour = entry_colour(index);
            if (has_others()) add_others(at, samples.spacing, optical, colour);
            if (optical > 0.0) {
                float level = clamp(level_of(here), 0.0, 1.0);
                // Fades the samples in front of a new maximum.
                float kept = 1.0 - yielding * max(level - brightest, 0.0);
                seen.distance = level > brightest ? length_to(samples, i) : seen.distance;
                seen.value = level > brightest ? here : seen.value;
                brightest = max(brightest, level);
                float before = 1.0 - kept * (1.0 - seen.transmittance);
                float passed = before * exp2(-optical);
                float share = before - passed;
                if (share > min_lit) colour = shaded_at(at, colour, ray.unit);
                seen.colour = kept * seen.colour + share * colour;
                seen.transmittance = passed;
            }
        }
    }
    if (seen.distance < 0.0 || balance <= 0.0) return seen;
    RayResult most = projected(seen.value, colour_of(seen.value), fading(seen.value), seen.distance);
    seen.colour = mix(seen.colour, most.colour, balance);
    seen.transmittance = mix(seen.transmittance, most.transmittance, balance);
    return seen;
}
