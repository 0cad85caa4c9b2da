// Ray caster: one invocation per pixel. A compute shader, because data-centre GPUs have few units for fragment work.
// Variants of a picture are specialization constants, because software Vulkan executes both sides of a branch.
//
// This file assembles the work for a ray. The files in raycast/ implement its parts.
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
#include "shaders/raycast/light.glsl"
#include "shaders/raycast/flow.glsl"
#include "shaders/raycast/others.glsl"
#include "shaders/raycast/slices.glsl"
#include "shaders/raycast/planes.glsl"
#include "shaders/raycast/composite.glsl"
#include "shaders/raycast/projections.glsl"
#include "shaders/raycast/mida.glsl"
#include "shaders/raycast/isosurface.glsl"
#include "shaders/raycast/points.glsl"
#include "shaders/raycast/channels_in_picture.glsl"
#include "shaders/raycast/box.glsl"
#include "shaders/raycast/pixel.glsl"
#include "shaders/raycast/caps.glsl"
#include "shaders/raycast/ground.glsl"

RayResult seen_along(Ray ray) {
    if (has_planes) return seen_on_planes(ray);
    if (mode == mode_composite) return composite(ray);
    if (mode == mode_mip) return maximum(ray);
    if (mode == mode_minip) return minimum(ray);
    if (mode == mode_average) return average(ray);
    if (mode == mode_attenuated_mip) return attenuated_maximum(ray);
    if (mode == mode_depth_mip) return depth_maximum(ray);
    if (mode == mode_isosurface) return isosurface(ray);
    if (mode == mode_mida) return mida(ray);
    if (mode == mode_points) return points(ray);
    return nothing;
}

// Returns the voxel as stored. Reads the texture without the rounding of interpolation if possible.
float voxel_value(vec3 voxel, vec3 size) {
    if (paged || rolling != rolling_off) return sampled((voxel + 0.5) / size);
    return texelFetch(volume, ivec3(voxel), 0).r;
}

// Writes the members of RayMeasure in order.
void write_measures(ivec2 here, Ray ray, RayResult seen) {
    vec3 at = ray.start + seen.distance * ray.direction;
    if (has_planes) at = place_on_plane(ray, seen.distance);
    vec3 slope = seen.distance < 0.0 || has_planes ? vec3(0) : gradient(at);
    vec3 size = volume_size();
    vec3 voxel = clamp(floor(at * size), vec3(0), size - 1.0);
    vec2 values = vec2(seen.value, voxel_value(voxel, size)) * frame.value_scale + frame.value_offset;
    float path = max(ray.leave - ray.enter, 0.0);
    ivec2 first = ivec2(here.x * measure_pixels, here.y);
    imageStore(measures, first, vec4(values.x, seen.transmittance, seen.distance, path));
    imageStore(measures, first + ivec2(1, 0), vec4(values.y, samples_taken, slope.xy));
    imageStore(measures, first + ivec2(2, 0), vec4(slope.z, voxel));
    imageStore(measures, first + ivec2(3, 0), vec4(flow_measured(at), 0.0, 0.0));
}

void main() {
    uvec2 here = region_pixel();
    uvec2 size = uvec2(frame.region.zw);
    if (here.x >= size.x || here.y >= size.y) return;
    vec2 pixel = place_in_picture(here);
    Ray whole = ray_of(pixel);
    Ray ray = cut(whole);
    if (slices_kind == slices_inside && frame.slices.is_clipped > 0.0) whole = ray;
    float slice = slices_kind == slices_inside ? length_to_slice(whole) : no_slice;
    ray.leave = min(ray.leave, slice);
    RayResult seen = nothing;
    bool meets = ray.leave > ray.enter;
    if (meets) seen = seen_along(ray);
    if (slices_kind == slices_section && meets) make_section(seen);
    if (flow_kind != flow_off && meets && !has_planes) add_flow_to_picture(seen, ray);
    if (channel_count > 0 && meets && !has_planes) add_channels_to_picture(seen, ray);
    if (has_caps && meets) add_cap(seen, ray);
    if (slices_kind == slices_inside) add_slice(seen, whole, slice);
    if (output_kind == output_measures) {
        write_measures(ivec2(here), ray, seen);
        return;
    }
    if (box) add_box(seen, pixel);
    if (has_ground) add_ground(seen, whole);
    vec3 background = frame.background.rgb;
    if (has_gradient) background = background_at(pixel);
    seen.colour += seen.transmittance * frame.background.a * background;
    seen.transmittance *= 1.0 - frame.background.a;
    float opacity = 1.0 - seen.transmittance;
    if (output_kind == output_mean) {
        add_to_mean(ivec2(here), vec4(seen.colour, opacity));
        return;
    }
    imageStore(picture, ivec2(here), vec4(opacity > 0.0 ? seen.colour / opacity : vec3(0), opacity));
}
