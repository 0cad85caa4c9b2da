// Emission and absorption after N. Max, "Optical models for direct volume rendering", IEEE TVCG 1(2), 1995: a step of
// length s through extinction e lets exp(-e s) of the light pass, so that the picture does not depend on the step.

const float min_lit = 1.0 / 200.0;  // share of the light from which on shading is worth its samples

const float seen_share = 0.25;         // opacity from which on a ray is said to have met something

// Samples whose light was worked out together: `light` is the sum of their shares of colour, and of the shares, `along`
// that of their shares of the way.
vec3 lit_together(Ray ray, Samples samples, vec4 light, float along) {
    if (light.a <= min_lit) return light.rgb;
    return light.a * shaded_at(place(samples, along / light.a), light.rgb / light.a, ray.unit);
}

// The light of the samples [begin, end), `stride` of them at a time: in thin runs one stands for several. Four are
// fetched together, as a fetch takes a GPU hundreds of cycles.
void add_run(inout Seen seen, Ray ray, Samples samples, float begin, float end, float stride) {
    float bits = frame.lookup.z * samples.spacing * stride;
    vec4 apart = vec4(0, 1, 2, 3) * stride;
    for (float i = begin + 0.5 * stride - 0.5; i < end && seen.transmittance >= frame.picture.w; i += 4.0 * stride) {
        ivec4 index;
        for (int j = 0; j < 4; ++j) index[j] = entry_of(place(samples, i + apart[j]));
        vec4 optical;
        for (int j = 0; j < 4; ++j) optical[j] = entry_extinction(index[j]) * bits;
        if (!has_others() && optical == vec4(0)) continue;
        vec4 light = vec4(0);
        float along = 0.0;
        for (int j = 0; j < 4 && i + apart[j] < end; ++j) {
            vec3 at = place(samples, i + apart[j]);
            if (!is_kept(at)) continue;
            float thickness = optical[j];
            vec3 colour = vec3(0);
            if (has_others() || thickness > 0.0) colour = entry_colour(index[j]);
            if (has_others()) add_others(at, samples.spacing * stride, thickness, colour);
            if (thickness <= 0.0) continue;
            float share = seen.transmittance * (1.0 - exp2(-thickness));
            if (lighting != lighting_together && share > min_lit) colour = shaded_at(at, colour, ray.unit);
            if (seen.distance < 0.0 && seen.transmittance - share <= 1.0 - seen_share) {
                seen.distance = length_to(samples, i + apart[j]);
            }
            if (lighting == lighting_together) {
                light += share * vec4(colour, 1.0);
                along += share * (i + apart[j]);
            } else {
                seen.colour += share * colour;
            }
            seen.transmittance -= share;
        }
        if (lighting == lighting_together) seen.colour += lit_together(ray, samples, light, along);
    }
}

Seen composite_by_runs(Ray ray) {
    Seen seen = nothing;
    Samples samples = samples_of(ray);
    for (float begin = 0.0; begin < samples.count && seen.transmittance >= frame.picture.w; begin += frame.run.x) {
        int kind = kind_of_run(samples, begin);
        bool is_still = is_without_others(samples, begin);
        if (kind == brick_empty && is_still) continue;
        float end = begin + frame.run.x;
        bool is_whole = end <= samples.count;
        add_run(seen, ray, samples, begin, min(end, samples.count), kind == brick_thin && is_still && is_whole ? frame.run.y : 1.0);
    }
    return seen;
}

#include "shaders/raycast/composite_software.glsl"

Seen composite(Ray ray) {
    Seen seen = is_software ? composite_in_software(ray) : composite_by_runs(ray);
    if (seen.transmittance < frame.picture.w) {
        seen.colour /= 1.0 - seen.transmittance;
        seen.transmittance = 0.0;
    }
    return seen;
}
