// Planes inside the volume: a ray ends at the first one it hits. Sections: the result of the ray is the picture. As in
// cut.glsl, loops always cover the max number of planes.

const float no_slice = 1e30;

float length_to_slice(Ray ray) {
    float nearest = no_slice;
    for (int i = 0; i < max_slices; ++i) {
        vec4 plane = frame.slices.plane[i];
        float slope = dot(plane.xyz, ray.direction);
        if (slope == 0.0) slope = 1e-12;
        float met = (plane.w - dot(plane.xyz, ray.start)) / slope;
        bool is_met = met >= ray.enter && met <= ray.leave && met < nearest;
        // Avoids a branch on the frame alone, see pixel.glsl.
        bool is_shown = bool(int(is_kept(ray.start + met * ray.direction)) | int(frame.slices.is_clipped == 0.0));
        if (is_met && is_shown) nearest = met;
    }
    return nearest;
}

// Maps values from low to high to gray or to the curve's colours, without extinction.
vec3 window_colour(float value) {
    return mix(vec3(clamp(level_of(value), 0.0, 1.0)), colour_of(value), frame.slices.colours);
}

void add_slice(inout RayResult seen, Ray ray, float distance) {
    if (distance == no_slice) return;
    float value = sampled(ray.start + distance * ray.direction);
    vec3 colour = window_colour(value);
    if (flow_kind != flow_off) colour = with_flow(ray.start + distance * ray.direction, colour);
    if (channel_count > 0) colour = with_channels(ray.start + distance * ray.direction, colour);
    seen.colour += seen.transmittance * colour;
    seen.transmittance = 0.0;
    if (seen.distance < 0.0) {
        seen.distance = distance;
        seen.value = value;
    }
}

// Makes sections opaque: they do not fade into the background.
void make_section(inout RayResult seen) {
    if (seen.distance < 0.0) return;  // everything is clipped
    if (shows_value) seen.colour = window_colour(seen.value);
    seen.transmittance = 0.0;
}
