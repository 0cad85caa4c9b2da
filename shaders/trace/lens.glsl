// A thin lens at the eye: the rays of a pixel meet in the plane of focus, `view.focus_um` behind the target. R. Cook et
// al., "Distributed ray tracing", SIGGRAPH 1984.

Ray through_lens(vec2 pixel) {
    Ray middle = ray_of(pixel);
    if (is_panorama) return middle;
    vec3 start = (middle.start - 0.5) / frame.per_extent;
    vec3 sharp = start + middle.unit * (frame.trace.focus_distance / dot(middle.unit, axis_of_sight()));
    vec4 u = draw();
    float beside = frame.trace.lens_radius * sqrt(u.x);
    start += beside * cos(2.0 * pi * u.y) * normalize(frame.eye_x.xyz + frame.ray_x.xyz) +
             beside * sin(2.0 * pi * u.y) * normalize(frame.eye_y.xyz + frame.ray_y.xyz);
    return ray_from(start, normalize(sharp - start), pixel);
}
