// Clipping of rays before sampling. Loops always cover the max number of planes: if the loop count came from the frame,
// software Vulkan would recompile the shader for each dispatch and keep all versions.

vec4 opened = vec4(0, 0, 0, 1e12);  // plane through which this ray enters; far away without one

// Clips the ray to the half space below a plane.
void keep_below(inout Ray ray, vec4 plane) {
    float slope = dot(plane.xyz, ray.direction);
    if (slope == 0.0) slope = 1e-12;
    float met = (plane.w - dot(plane.xyz, ray.start)) / slope;
    if (slope > 0.0) {
        ray.leave = min(ray.leave, met);
    } else if (met > ray.enter) {
        ray.enter = met;
        opened = plane;
    }
}

// Returns the depth limits at a lateral position, as texture coordinates along depth: top, bottom.
vec2 heights_over(vec2 lateral) {
    return textureLod(heights, lateral, 0.0).rg * frame.cut.depth_per_um + frame.cut.heights_added;
}

// Returns true if a sample on a clipped ray is also between the depth limits.
bool is_kept(vec3 at) {
    if (heights_kind != heights_anywhere) return true;
    vec2 ends = heights_over(at.yz);
    return at.x >= ends.x && at.x <= ends.y;
}

// Returns true for clipped points that need not be on a ray, and for unfilled slices of a first volume.
bool is_cut_away(vec3 at) {
    if (rolling == rolling_first && at.z >= frame.filled.end) return true;
    if (is_cut) {
        for (int i = 0; i < max_cuts; ++i) {
            if (dot(frame.cut.plane[i].xyz, at) > frame.cut.plane[i].w) return true;
        }
    }
    return !is_kept(at);
}

// For rays along the depth axis.
void keep_between_heights(inout Ray ray) {
    vec2 met = (heights_over(ray.start.yz) - ray.start.x) / ray.direction.x;
    ray.enter = max(ray.enter, met.x);
    ray.leave = min(ray.leave, met.y);
}

Ray cut(Ray ray) {
    if (heights_kind == heights_along_rays) keep_between_heights(ray);
    if (is_cut) {
        for (int i = 0; i < max_cuts; ++i) keep_below(ray, frame.cut.plane[i]);
    }
    return ray;
}

// Weight of the gradient shading, 0 to 1: cut faces are unshaded and shading fades in below them.
float shading_below_cut(vec3 at) {
    if (!is_cut) return 1.0;
    return clamp((opened.w - dot(opened.xyz, at)) / frame.cut.plain_depth - 1.0, 0.0, 1.0);
}
