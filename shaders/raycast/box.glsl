// The edges of the volume.

// Returns the coverage of the pixel by the box's lines: x in front of the volume, y behind it.
vec2 box_lines(vec2 pixel) {
    if (is_panorama) return box_lines_around(pixel);
    vec2 nearest = vec2(1e12);  // squared distances in pixels
    for (int i = 0; i < box_edges; ++i) {
        vec2 along = frame.edge[i].zw;
        vec2 from = pixel - frame.edge[i].xy;
        vec2 off = from - clamp(dot(from, along) * frame.edge_facts[i].x, 0.0, 1.0) * along;
        nearest = min(nearest, dot(off, off) + frame.edge_facts[i].yz);
    }
    return clamp(0.5 + 0.5 * frame.box_width - sqrt(nearest), 0.0, 1.0);
}

void add_box(inout RayResult seen, vec2 pixel) {
    vec2 cover = box_lines(pixel - 0.5 * frame.picture);
    seen.colour += seen.transmittance * cover.y * frame.box_colour;
    seen.transmittance *= 1.0 - cover.y;
    seen.colour = mix(seen.colour, frame.box_colour, cover.x);
    seen.transmittance *= 1.0 - cover.x;
}
