// Emission and absorption after N. Max, "Optical models for direct volume rendering", IEEE TVCG 1(2), 1995: a step of
// length s through extinction e lets exp(-e s) of the light pass, so that the picture does not depend on the step.

const float least_lit = 1.0 / 512.0;  // share of the light from which on shading is worth its six samples

Seen composite(Ray ray) {
    Seen seen = nothing;
    Samples samples = samples_of(ray);
    float bits = frame.lookup.z * samples.spacing;
    for (float begin = 0.0; begin < samples.count; begin += frame.run.x) {
        if (skips && most_in_run(samples, begin) <= frame.run.y) continue;
        float end = min(begin + frame.run.x, samples.count);
        for (float i = begin; i < end; i += 1.0) {
            vec3 at = place(samples, i);
            int index = table_index(sampled(at));
            float extinction = texelFetch(extinctions, index, 0).r;
            if (extinction > 0.0) {
                vec3 colour = texelFetch(colours, index, 0).rgb;
                float passed = seen.transmittance * exp2(-extinction * bits);
                float share = seen.transmittance - passed;
                if (share > least_lit) colour = shaded_at(at, colour, ray.unit);
                if (seen.distance < 0.0) seen.distance = length_to(samples, i);
                seen.colour += share * colour;
                seen.transmittance = passed;
            }
        }
        if (seen.transmittance < frame.picture.w) break;
    }
    if (seen.transmittance < frame.picture.w) {
        seen.colour /= 1.0 - seen.transmittance;
        seen.transmittance = 0.0;
    }
    return seen;
}
