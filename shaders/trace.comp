// Path tracer: one path per pixel and pass; the picture is the mean of all passes. Volume, curve, cuts, flow and
// slices, and hence the opacities, are those of the ray caster. Light is scattered any number of times.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#extension GL_EXT_control_flow_attributes : require
#include "shaders/raycast/frame.glsl"
#include "shaders/raycast/volume.glsl"
#include "shaders/raycast/transfer.glsl"
#include "shaders/raycast/jitter.glsl"
#include "shaders/raycast/ray.glsl"
#include "shaders/raycast/cut.glsl"
#include "shaders/raycast/channels.glsl"
#include "shaders/raycast/flow.glsl"
#include "shaders/raycast/others.glsl"
#include "shaders/raycast/slices.glsl"
#include "shaders/raycast/box.glsl"
#include "shaders/raycast/pixel.glsl"
#include "shaders/raycast/caps.glsl"
#include "shaders/trace/random.glsl"
#include "shaders/trace/medium.glsl"
#include "shaders/trace/flight.glsl"
#include "shaders/trace/solid.glsl"
#include "shaders/trace/scatter.glsl"
#include "shaders/trace/lights.glsl"
#include "shaders/trace/sky.glsl"
#include "shaders/trace/lens.glsl"
#include "shaders/trace/path.glsl"
#include "shaders/trace/ground.glsl"

layout(set = 0, binding = binding_path_albedo, rgba32f) uniform image2D path_albedo;
layout(set = 0, binding = binding_path_normals, rgba32f) uniform image2D path_normals;
layout(set = 0, binding = binding_path_squares, rg32f) uniform image2D path_squares;
layout(set = 0, binding = binding_path_drawn, rgba32f) uniform image2D path_drawn;

// Depth that separates lines from their surroundings for the denoiser, so that it never mixes them.
const float apart = 4.0;

// Composites the cap over the traced light and the drawn colours behind it.
void put_cap(inout Traced found, inout vec4 drawn, vec4 cap) {
    found.light *= 1.0 - cap.a;
    found.opacity *= 1.0 - cap.a;
    drawn *= 1.0 - cap.a;
    drawn += vec4(cap.a * from_srgb(clamp(cap.rgb / max(cap.a, 1e-6), 0.0, 1.0)), cap.a);
}

// Returns the colours of slices, ground and lines, premultiplied and linear. They are display colours, not light, hence
// kept apart from the traced light.
vec4 drawn_at(inout Traced found, Ray whole, vec2 pixel, float slice, vec4 cap) {
    vec4 drawn = vec4(0);
    if (slices_kind == slices_inside && found.opacity == 0.0 && slice != no_slice) {
        RayResult seen = nothing;
        add_slice(seen, whole, slice);
        drawn = vec4(from_srgb(clamp(seen.colour, 0.0, 1.0)), 1.0);
    }
    if (has_ground && found.opacity == 0.0 && drawn.a == 0.0) drawn.a = shadow_on_ground(whole);
    if (has_caps) put_cap(found, drawn, cap);
    if (!box) return drawn;
    vec2 cover = box_lines(pixel - 0.5 * frame.picture);
    vec4 line = vec4(from_srgb(frame.box_colour), 1.0);
    drawn += (1.0 - found.opacity) * (1.0 - drawn.a) * cover.y * line;
    drawn = mix(drawn, line, cover.x);
    found.light *= 1.0 - cover.x;
    found.opacity *= 1.0 - cover.x;
    found.albedo.a += apart * cover.x;
    return drawn;
}

void add_path(ivec2 here, Traced found, vec4 drawn) {
    float luminance = dot(found.light, vec3(0.2126, 0.7152, 0.0722));
    float squares = dot(found.albedo, found.albedo) + dot(found.facing, found.facing) + found.opacity * found.opacity;
    add_to_mean(here, vec4(found.light, found.opacity));
    imageStore(path_albedo, here, with_pass(imageLoad(path_albedo, here), found.albedo));
    imageStore(path_normals, here, with_pass(imageLoad(path_normals, here), vec4(found.facing, squares)));
    // Alternating signs: the mean is half the difference between the two halves of the paths.
    float by_turns = luminance * (1.0 - 2.0 * float(frame.trace.path_number & 1u));
    imageStore(path_squares, here,
               with_pass(imageLoad(path_squares, here), vec4(luminance * luminance, by_turns, 0, 0)));
    imageStore(path_drawn, here, with_pass(imageLoad(path_drawn, here), drawn));
}

void main() {
    uvec2 here = region_pixel();
    if (any(greaterThanEqual(here, uvec2(frame.region.zw)))) return;
    vec2 pixel = place_in_picture(here);
    begin_draws(here + uvec2(frame.region.xy));

    Ray whole = through_lens(pixel);
    Ray ray = cut(whole);
    if (slices_kind == slices_inside && frame.slices.is_clipped > 0.0) whole = ray;
    float slice = slices_kind == slices_inside ? length_to_slice(whole) : no_slice;
    ray.leave = min(ray.leave, slice);
    vec4 cap = vec4(0);
    if (has_caps && ray.leave > ray.enter) cap = cap_of(ray);
    Traced found = nothing_traced;
    if (ray.leave > ray.enter) found = traced(ray);
    if (output_kind == output_counts) {
        add_to_mean(ivec2(here), found.counts);
    } else {
        vec4 drawn = drawn_at(found, whole, pixel, slice, cap);
        add_path(ivec2(here), found, drawn);
    }
}
