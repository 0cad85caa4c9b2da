// Emission and absorption after N. Max, "Optical models for direct volume rendering", IEEE TVCG 1(2), 1995. A step of
// length s through extinction e transmits exp(-e s), so the picture does not depend on the step length. Optical depths
// are in bits: exp2(-bits).

const float min_lit = 1.0 / 200.0;  // min share of a sample's light that is worth shading

const float seen_share = 0.25;         // opacity at which a ray counts as having hit something

// Shades samples together, once at their mean position. `light` contains the sums of share times colour and of the
// shares, `along` the sum of share times sample index.
vec3 lit_together(Ray ray, Samples samples, vec4 light, float along) {
    if (light.a <= min_lit) return light.rgb;
    return light.a * shaded_at(place(samples, along / light.a), light.rgb / light.a, ray.unit);
}

// Adds the samples [begin, end). In thin runs, one sample represents `stride` samples. Samples are fetched in groups of
// four to hide the latency of several hundred cycles.
void add_run(inout RayResult seen, Ray ray, Samples samples, float begin, float end, float stride) {
    float bits = frame.lookup.bits * samples.spacing * stride;
    vec4 apart = vec4(0, 1, 2, 3) * stride;
    for (float i = begin + 0.5 * stride - 0.5; i < end && seen.transmittance >= frame.min_transmittance;
         i += 4.0 * stride) {
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

RayResult composite_by_runs(Ray ray) {
    RayResult seen = nothing;
    Samples samples = samples_of(ray);
    for (float begin = 0.0; begin < samples.count && seen.transmittance >= frame.min_transmittance;
         begin += frame.run_length) {
        int kind = kind_of_run(samples, begin);
        bool is_still = is_without_others(samples, begin);
        if (kind == brick_empty && is_still) continue;
        float end = begin + frame.run_length;
        bool is_whole = end <= samples.count;
        float stride = kind == brick_thin && is_still && is_whole ? frame.thin_stride : 1.0;
        add_run(seen, ray, samples, begin, min(end, samples.count), stride);
    }
    return seen;
}

#include "shaders/raycast/composite_software.glsl"

// Rays that end early are normalised to full opacity.
RayResult composite(Ray ray) {
    RayResult seen = is_software ? composite_in_software(ray) : composite_by_runs(ray);
    if (seen.transmittance < frame.min_transmittance) {
        seen.colour /= 1.0 - seen.transmittance;
        seen.transmittance = 0.0;
    }
    return seen;
}
