// Faces that were cut open, as sections: values from low to high, gray or in the colours of the curve. The lowest tenth of the
// range fades, so that one sees into what is hollow.

// Premultiplied; of a ray that comes in elsewhere nothing.
vec4 cap_of(Ray ray) {
    vec3 at = ray.start + ray.enter * ray.direction;
    if (opened.w > 1e11 || !is_kept(at)) return vec4(0);
    float value = sampled(at);
    float level = level_of(value);
    float opacity = level > 0.0 ? clamp(10.0 * level, 0.0, 1.0) : 0.0;  // 0 too where voxels are no numbers
    vec3 colour = mix(vec3(clamp(level, 0.0, 1.0)), colour_of(value), frame.studio.caps.x);
    if (flow_kind != flow_off) colour = with_flow(at, colour);
    return opacity > 0.0 ? vec4(opacity * colour, opacity) : vec4(0);
}

void add_cap(inout Seen seen, Ray ray) {
    vec4 cap = cap_of(ray);
    seen.colour = cap.rgb + (1.0 - cap.a) * seen.colour;
    seen.transmittance *= 1.0 - cap.a;
    if (cap.a >= 0.25) {
        seen.distance = ray.enter;
        seen.value = sampled(ray.start + ray.enter * ray.direction);
    }
}

vec3 background_at(vec2 pixel) {
    float down = clamp(pixel.y * frame.studio.below.w, 0.0, 1.0);
    return frame.background.rgb + down * (frame.studio.below.rgb - frame.background.rgb);
}
