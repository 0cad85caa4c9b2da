// Caps: cut faces shown as sections, with values from low to high in gray or in the colours of the curve. The lowest
// tenth of the range fades out, so that cavities stay visible.

// Returns the premultiplied colour of the cap; zero if the ray does not enter through a cut face.
vec4 cap_of(Ray ray) {
    vec3 at = ray.start + ray.enter * ray.direction;
    if (opened.w > 1e11 || !is_kept(at)) return vec4(0);
    float value = sampled(at);
    float level = level_of(value);
    float opacity = level > 0.0 ? clamp(10.0 * level, 0.0, 1.0) : 0.0;  // also 0 for NaN
    vec3 colour = mix(vec3(clamp(level, 0.0, 1.0)), colour_of(value), frame.studio.cap_colours);
    if (flow_kind != flow_off) colour = with_flow(at, colour);
    return opacity > 0.0 ? vec4(opacity * colour, opacity) : vec4(0);
}

void add_cap(inout RayResult seen, Ray ray) {
    vec4 cap = cap_of(ray);
    seen.colour = cap.rgb + (1.0 - cap.a) * seen.colour;
    seen.transmittance *= 1.0 - cap.a;
    // As in composite.glsl: a hit requires this opacity.
    if (cap.a >= 0.25) {
        seen.distance = ray.enter;
        seen.value = sampled(ray.start + ray.enter * ray.direction);
    }
}

// The background's vertical gradient.
vec3 background_at(vec2 pixel) {
    float down = clamp(pixel.y * frame.studio.per_height, 0.0, 1.0);
    return frame.background.rgb + down * (frame.studio.lower_background - frame.background.rgb);
}
