// Projections: one value per ray, the max, min, mean or attenuated max.
#include "shaders/shared/depth_colour.h"

// Larger than any value. Comparisons skip NaN.
const float beyond_values = 3.0e38;

// Opacity of a projected value: the lowest tenth of the range fades out.
float fading(float value) {
    return clamp(10.0 * level_of(value), 0.0, 1.0);
}

RayResult projected(float value, vec3 colour, float opacity, float distance) {
    return RayResult(colour * opacity, 1.0 - opacity, value, distance);
}

struct Extreme {
    float value, index;  // of its first sample
};

Extreme largest(Samples samples) {
    Extreme most = Extreme(-beyond_values, 0.0);
    for (float begin = 0.0; begin < samples.count; begin += frame.run_length) {
        if (skips && max_in_run(samples, begin) <= most.value) continue;
        float end = min(begin + frame.run_length, samples.count);
        for (float i = begin; i < end; i += 1.0) {
            if (!is_kept(place(samples, i))) continue;
            float here = sampled(place(samples, i));
            bool is_more = here > most.value;
            most.index = is_more ? i : most.index;
            most.value = is_more ? here : most.value;
        }
    }
    return most;
}

RayResult maximum(Ray ray) {
    Samples samples = samples_of(ray);
    Extreme most = largest(samples);
    if (most.value == -beyond_values) return nothing;
    return projected(most.value, colour_of(most.value), fading(most.value), length_to(samples, most.index));
}

RayResult depth_maximum(Ray ray) {
    Samples samples = samples_of(ray);
    Extreme most = largest(samples);
    if (most.value == -beyond_values) return nothing;
    vec3 colour = colour_of_depth(place(samples, most.index).x) * clamp(level_of(most.value), 0.0, 1.0);
    return projected(most.value, colour, fading(most.value), length_to(samples, most.index));
}

// Opaque, because the values of interest are at the low end of the range.
RayResult minimum(Ray ray) {
    Samples samples = samples_of(ray);
    Extreme least = Extreme(beyond_values, 0.0);
    for (float begin = 0.0; begin < samples.count; begin += frame.run_length) {
        if (skips && min_in_run(samples, begin) >= least.value) continue;
        float end = min(begin + frame.run_length, samples.count);
        for (float i = begin; i < end; i += 1.0) {
            if (!is_kept(place(samples, i))) continue;
            float here = sampled(place(samples, i));
            bool is_less = here < least.value;
            least.index = is_less ? i : least.index;
            least.value = is_less ? here : least.value;
        }
    }
    if (least.value == beyond_values) return nothing;
    return projected(least.value, colour_of(least.value), 1.0, length_to(samples, least.index));
}

RayResult average(Ray ray) {
    Samples samples = samples_of(ray);
    float sum = 0.0;
    float count = 0.0;
    for (float i = 0.0; i < samples.count; i += 1.0) {
        if (!is_kept(place(samples, i))) continue;
        float here = sampled(place(samples, i));
        bool is_number = abs(here) < beyond_values;
        sum += is_number ? here : 0.0;
        count += is_number ? 1.0 : 0.0;
    }
    if (count == 0.0) return nothing;
    float mean = sum / count;
    return projected(mean, colour_of(mean), fading(mean), length_to(samples, 0.5 * (samples.count - 1.0)));
}

// Samples are attenuated by the levels in front of them, and the largest attenuated level counts. Values below the
// range do not attenuate.
RayResult attenuated_maximum(Ray ray) {
    Samples samples = samples_of(ray);
    float bits = frame.modes.attenuation_bits * samples.spacing;
    float low = frame.filled.low;
    float light = 1.0;
    float most = 0.0;
    float index = 0.0;
    for (float begin = 0.0; begin < samples.count && light > most; begin += frame.run_length) {
        if (skips && max_in_run(samples, begin) <= low) continue;
        float end = min(begin + frame.run_length, samples.count);
        for (float i = begin; i < end; i += 1.0) {
            if (!is_kept(place(samples, i))) continue;
            float here = sampled(place(samples, i));
            float level = here > low ? min(level_of(here), 1.0) : 0.0;
            float halved = exp2(-0.5 * bits * level);
            float reached = level * light * halved;
            light *= halved * halved;
            index = reached > most ? i : index;
            most = max(most, reached);
        }
    }
    float value = (most * float(transfer_entries - 1) - frame.lookup.entry_offset) / frame.lookup.entry_scale;
    return projected(value, colour_of(value), fading(value), length_to(samples, index));
}
