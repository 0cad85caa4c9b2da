// What is cut away of a ray before anything is sampled. Loops go over all cuts that there may be: software Vulkan makes
// a shader anew with each dispatch, and keeps them, where the frame says how long a loop is.

vec4 opened = vec4(0, 0, 0, 1e12);  // the cut by which this ray comes in; none: far away

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

// Texture coordinates along the depth of the top and the bottom above and below a place.
vec2 heights_over(vec2 lateral) {
    return textureLod(heights, lateral, 0.0).rg * frame.cut.heights.z + frame.cut.heights.xy;
}

// Whether a sample on a ray that was cut is left by the heights too.
bool is_kept(vec3 at) {
    if (heights_kind != heights_anywhere) return true;
    vec2 ends = heights_over(at.yz);
    return at.x >= ends.x && at.x <= ends.y;
}

// For places that are on no ray; where a first volume is not filled yet, there is nothing either.
bool is_cut_away(vec3 at) {
    if (rolling == rolling_first && at.z >= frame.filled.x) return true;
    if (is_cut) {
        for (int i = 0; i < max_cuts; ++i) {
            if (dot(frame.cut.plane[i].xyz, at) > frame.cut.plane[i].w) return true;
        }
    }
    return !is_kept(at);
}

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

// How far the volume's own shape shades what is seen: a face that was cut open shows its plain colours.
float shading_below_cut(vec3 at) {
    if (!is_cut) return 1.0;
    return clamp((opened.w - dot(opened.xyz, at)) / frame.cut.facts.y - 1.0, 0.0, 1.0);
}
