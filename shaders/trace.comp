// Path tracer: one path a pixel and pass, whose mean is the picture. Volume, curve, cuts, flow and slices are those of the
// ray caster, and so is the opacity of what is seen; the light is that of the real thing: scattered any number of times.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shaders/raycast/frame.glsl"
#include "shaders/raycast/volume.glsl"
#include "shaders/raycast/transfer.glsl"
#include "shaders/raycast/jitter.glsl"
#include "shaders/raycast/ray.glsl"
#include "shaders/raycast/cut.glsl"
#include "shaders/raycast/flow.glsl"
#include "shaders/raycast/slices.glsl"
#include "shaders/raycast/box.glsl"
#include "shaders/raycast/pixel.glsl"
#include "shaders/trace/random.glsl"
#include "shaders/trace/medium.glsl"
#include "shaders/trace/flight.glsl"
#include "shaders/trace/scatter.glsl"
#include "shaders/trace/path.glsl"

// Lines and slices are colours of the display: in light, what is shown as them.
vec3 as_light(vec3 colour) {
    return untoned(from_srgb(clamp(colour, 0.0, 1.0)), frame.trace.tone);
}

void main() {
    uvec2 here = region_pixel();
    if (any(greaterThanEqual(here, uvec2(frame.region.zw)))) return;
    vec2 pixel = place_in_picture(here);
    uvec2 whole_pixel = here + uvec2(frame.region.xy);
    random_pixel = uvec2(whole_pixel.y * frame.trace.random.z + whole_pixel.x, frame.trace.random.y);

    Ray whole = ray_of(pixel);
    Ray ray = cut(whole);
    if (slices_kind == slices_inside && frame.slices.facts.z > 0.0) whole = ray;
    float slice = slices_kind == slices_inside ? length_to_slice(whole) : no_slice;
    ray.leave = min(ray.leave, slice);
    Traced found = Traced(vec3(0), 0.0, vec4(0));
    if (ray.leave > ray.enter) found = traced(ray);
    if (output_kind == output_counts) {
        add_to_mean(ivec2(here), found.counts);
        return;
    }
    Seen seen = Seen(found.light, 1.0 - found.opacity, 0.0, -1.0);
    if (slices_kind == slices_inside && found.opacity == 0.0 && slice != no_slice) {
        add_slice(seen, whole, slice);
        seen.colour = as_light(seen.colour);
    }
    if (box) {
        vec2 cover = box_lines(pixel - 0.5 * frame.picture.xy);
        vec3 line = as_light(frame.box_colour.rgb);
        seen.colour = mix(seen.colour + seen.transmittance * cover.y * line, line, cover.x);
        seen.transmittance *= (1.0 - cover.x) * (1.0 - cover.y);
    }
    add_to_mean(ivec2(here), vec4(seen.colour, 1.0 - seen.transmittance));
}
