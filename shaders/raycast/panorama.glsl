// Panoramas (equirectangular): columns are longitudes, rows latitudes, and the centre is the viewing direction.

vec3 unit_around(vec2 from_middle) {
    vec2 angle = from_middle * frame.studio.radians_per_pixel;
    vec3 right = normalize(frame.ray_x.xyz);
    vec3 down = normalize(frame.ray_y.xyz);
    vec3 level = cos(angle.x) * frame.ray.xyz + sin(angle.x) * right;
    return normalize(cos(angle.y) * level + sin(angle.y) * down);
}

// Returns the angle from a direction to an arc of a great circle, in radians.
float angle_to_arc(vec3 unit, vec3 from, vec3 to) {
    vec3 axis = cross(from, to);
    float off = dot(unit, axis) / max(length(axis), 1e-12);
    bool is_beside = dot(cross(from, unit), axis) >= 0.0 && dot(cross(unit, to), axis) >= 0.0;
    // For small angles, the sine of half the chord is precise and the cosine is not.
    float end = min(length(unit - from), length(unit - to));
    return is_beside ? asin(clamp(abs(off), 0.0, 1.0)) : 2.0 * asin(clamp(0.5 * end, 0.0, 1.0));
}

// Like box_lines(). Edges are stored as the directions of their ends; w is 0 and huge, or the reverse for edges behind
// the volume.
vec2 box_lines_around(vec2 from_middle) {
    vec3 unit = unit_around(from_middle);
    vec2 nearest = vec2(1e12);
    for (int i = 0; i < box_edges; ++i) {
        float off = angle_to_arc(unit, frame.edge[i].xyz, frame.edge_facts[i].xyz) / frame.studio.radians_per_pixel.y;
        nearest = min(nearest, off + vec2(frame.edge[i].w, frame.edge_facts[i].w));
    }
    return clamp(0.5 + 0.5 * frame.box_width - nearest, 0.0, 1.0);
}
