// Ray caster: one invocation a pixel. A compute shader, because fragment work runs on a small part of a data-centre GPU.
// What varies between pictures is a specialization constant: software Vulkan executes both sides of a branch.
// Emission and absorption after N. Max, "Optical models for direct volume rendering", IEEE TVCG 1(2), 1995: a step of
// length s through extinction e lets exp(-e s) of the light pass, so that the picture does not depend on the step.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shaders/shared/raycast.h"

layout(local_size_x = group_width, local_size_y = group_height) in;
layout(constant_id = constant_mode) const int mode = mode_composite;
layout(constant_id = constant_lit) const bool lit = false;
layout(constant_id = constant_box) const bool box = false;
layout(constant_id = constant_measure) const bool measure = false;
layout(constant_id = constant_rolling) const int rolling = rolling_off;

layout(set = 0, binding = binding_frame) uniform Frame { RaycastFrame frame; };
layout(set = 0, binding = binding_volume) uniform sampler3D volume;
layout(set = 0, binding = binding_extinctions) uniform texture1D extinctions;  // the table, per depth of the volume
layout(set = 0, binding = binding_colours) uniform texture1D colours;
layout(set = 0, binding = binding_picture) uniform writeonly image2D picture;
layout(set = 0, binding = binding_brick_maxima) uniform texture3D brick_maxima;
layout(set = 0, binding = binding_previous) uniform sampler3D previous;
layout(set = 0, binding = binding_previous_maxima) uniform texture3D previous_maxima;

const float least_lit = 1.0 / 512.0;  // share of the light from which on shading is worth its six samples

struct Ray {
    vec3 start, direction;  // texture coordinates; direction per unit of length
    vec3 unit;              // direction, of length one
    float enter, leave;     // lengths along the ray; leave <= enter: the volume is missed
};

struct Light {
    vec3 colour;          // premultiplied
    float transmittance;  // of what lies behind
    float value;          // texture value: maximum, or at the surface
    float distance;       // length along the ray to the surface; negative: none
};

// Slices that are not filled yet are never touched: they are being written.
float sampled(vec3 at) {
    if (rolling != rolling_off) {
        if (at.z >= frame.filled.x) return rolling == rolling_over ? textureLod(previous, at, 0.0).r : frame.filled.z;
        at.z = min(at.z, frame.filled.y);
    }
    return textureLod(volume, at, 0.0).r;
}

int table_index(float value) {
    return int(clamp(value * frame.lookup.x + frame.lookup.y, 0.0, float(transfer_entries - 1)) + 0.5);
}

Ray ray_of(vec2 pixel) {
    Ray ray;
    ray.start = (frame.eye + pixel.x * frame.eye_x + pixel.y * frame.eye_y).xyz * frame.per_extent.xyz + 0.5;
    ray.unit = normalize((frame.ray + pixel.x * frame.ray_x + pixel.y * frame.ray_y).xyz);
    ray.direction = ray.unit * frame.per_extent.xyz;
    vec3 slope = mix(ray.direction, vec3(1e-12), lessThan(abs(ray.direction), vec3(1e-12)));
    vec3 a = -ray.start / slope;
    vec3 b = (1.0 - ray.start) / slope;
    vec3 near = min(a, b);
    vec3 far = max(a, b);
    ray.enter = max(max(near.x, near.y), max(near.z, 0.0));
    ray.leave = min(far.x, min(far.y, far.z));
    return ray;
}

// In texture values per smallest voxel edge.
vec3 gradient(vec3 at) {
    vec3 h = frame.gradient_step.xyz;
    return vec3(sampled(at + vec3(h.x, 0, 0)) - sampled(at - vec3(h.x, 0, 0)),
                sampled(at + vec3(0, h.y, 0)) - sampled(at - vec3(0, h.y, 0)),
                sampled(at + vec3(0, 0, h.z)) - sampled(at - vec3(0, 0, h.z))) * frame.per_difference.xyz;
}

// The samples of a ray: `count` of them, `spacing` apart, the first half a spacing inside the volume. They are worked
// through in runs short enough for one brick to vouch for: no run is entered whose largest value cannot be seen.
struct Samples {
    vec3 first, stride;
    float count, spacing;
};

Samples samples_of(Ray ray) {
    float path = ray.leave - ray.enter;
    float count = max(ceil(path / frame.picture.z - 1e-3), 1.0);
    vec3 stride = ray.direction * (path / count);
    return Samples(ray.start + ray.direction * ray.enter + 0.5 * stride, stride, count, path / count);
}

float most_in_run(Samples samples, float begin) {
    vec3 middle = samples.first + (begin + 0.5 * frame.run.x - 0.5) * samples.stride;
    ivec3 brick = clamp(ivec3(middle * frame.bricks.xyz), ivec3(0), textureSize(brick_maxima, 0) - 1);
    float most = texelFetch(brick_maxima, brick, 0).r;
    return rolling == rolling_over ? max(most, texelFetch(previous_maxima, brick, 0).r) : most;
}

// Two-sided headlight (the eye is the lamp). `trust` of the normal: 0 leaves the colour as it is.
vec3 shaded(vec3 colour, vec3 normal, vec3 unit, float trust) {
    float facing = abs(dot(normal, unit));
    vec3 light = colour * (0.25 + 0.65 * facing) + 0.1 * pow(facing, 30.0);  // white stays white: nothing is clipped
    return mix(colour, light, frame.lighting.x * trust);
}

vec3 shaded_at(vec3 at, vec3 colour, vec3 unit) {
    vec3 slope = gradient(at);
    float steepness = length(slope);
    return shaded(colour, slope / max(steepness, 1e-20), unit, steepness / (steepness + frame.lighting.y));
}

Light composite(Ray ray) {
    Light light = Light(vec3(0), 1.0, 0.0, -1.0);
    Samples samples = samples_of(ray);
    float bits = frame.lookup.z * samples.spacing;
    for (float begin = 0.0; begin < samples.count; begin += frame.run.x) {
        if (most_in_run(samples, begin) <= frame.run.y) continue;
        float end = min(begin + frame.run.x, samples.count);
        for (float i = begin; i < end; i += 1.0) {
            vec3 at = samples.first + i * samples.stride;
            int index = table_index(sampled(at));
            float extinction = texelFetch(extinctions, index, 0).r;
            if (extinction > 0.0) {
                vec3 colour = texelFetch(colours, index, 0).rgb;
                float passed = light.transmittance * exp2(-extinction * bits);
                float share = light.transmittance - passed;
                if (lit && share > least_lit) colour = shaded_at(at, colour, ray.unit);
                light.colour += share * colour;
                light.transmittance = passed;
            }
        }
        if (light.transmittance < frame.picture.w) break;
    }
    if (light.transmittance < frame.picture.w) {
        light.colour /= 1.0 - light.transmittance;
        light.transmittance = 0.0;
    }
    return light;
}

Light maximum(Ray ray) {
    Samples samples = samples_of(ray);
    float value = sampled(samples.first);
    for (float begin = 0.0; begin < samples.count; begin += frame.run.x) {
        if (most_in_run(samples, begin) <= value) continue;
        float end = min(begin + frame.run.x, samples.count);
        for (float i = begin; i < end; i += 1.0) value = max(value, sampled(samples.first + i * samples.stride));
    }
    // The lowest tenth of the range fades into the background.
    float level = (value * frame.lookup.x + frame.lookup.y) / float(transfer_entries - 1);
    float opacity = clamp(10.0 * level, 0.0, 1.0);
    return Light(texelFetch(colours, table_index(value), 0).rgb * opacity, 1.0 - opacity, value, -1.0);
}

// Index of the first sample that reaches the level; count: none.
float first_inside(Samples samples, float level) {
    for (float begin = 0.0; begin < samples.count; begin += frame.run.x) {
        if (most_in_run(samples, begin) < level) continue;
        float end = min(begin + frame.run.x, samples.count);
        for (float i = begin; i < end; i += 1.0) {
            if (sampled(samples.first + i * samples.stride) >= level) return i;
        }
    }
    return samples.count;
}

Light isosurface(Ray ray) {
    Samples samples = samples_of(ray);
    float level = frame.lookup.w;
    float inside = first_inside(samples, level);
    if (inside == samples.count) return Light(vec3(0), 1.0, 0.0, -1.0);
    float outside = max(inside - 1.0, -0.5);
    for (int halving = 0; halving < 10; ++halving) {
        float middle = 0.5 * (outside + inside);
        bool beyond = sampled(samples.first + middle * samples.stride) >= level;
        inside = beyond ? middle : inside;
        outside = beyond ? outside : middle;
    }
    vec3 colour = frame.surface_colour.rgb;
    if (lit) colour = shaded_at(samples.first + inside * samples.stride, colour, ray.unit);
    return Light(colour, 0.0, level, ray.enter + (inside + 0.5) * samples.spacing);
}

// How much of the pixel is covered by box lines: x before the volume, y behind it.
vec2 box_lines(vec2 pixel) {
    vec2 nearest = vec2(1e12);  // squared distances
    for (int i = 0; i < box_edges; ++i) {
        vec2 along = frame.edge[i].zw;
        vec2 from = pixel - frame.edge[i].xy;
        vec2 off = from - clamp(dot(from, along) * frame.edge_facts[i].x, 0.0, 1.0) * along;
        nearest = min(nearest, dot(off, off) + frame.edge_facts[i].yz);
    }
    return clamp(0.5 + 0.5 * frame.box_colour.w - sqrt(nearest), 0.0, 1.0);
}

// Software Vulkan gives each core one run of neighbouring groups. Rows of groups are dealt out with a stride, so that
// each core gets its share of the hard part of the picture.
uvec2 pixel_corner() {
    uint row = gl_WorkGroupID.y * uint(frame.rows.y) % uint(frame.rows.x);
    return uvec2(gl_GlobalInvocationID.x, row * group_height + gl_LocalInvocationID.y);
}

void main() {
    vec2 size = frame.picture.xy;
    vec2 corner = vec2(pixel_corner());
    if (corner.x >= size.x || corner.y >= size.y) return;
    vec2 pixel = corner + 0.5 - 0.5 * size;

    Ray ray = ray_of(pixel);
    Light light = Light(vec3(0), 1.0, 0.0, -1.0);
    if (ray.leave > ray.enter) {
        if (mode == mode_composite) light = composite(ray);
        if (mode == mode_mip) light = maximum(ray);
        if (mode == mode_isosurface) light = isosurface(ray);
    }
    if (measure) {
        float value = light.value * frame.lighting.z + frame.lighting.w;
        imageStore(picture, ivec2(corner), vec4(value, light.transmittance, light.distance, max(ray.leave - ray.enter, 0.0)));
        return;
    }
    if (box) {
        vec2 cover = box_lines(pixel);
        light.colour += light.transmittance * cover.y * frame.box_colour.rgb;
        light.transmittance *= 1.0 - cover.y;
        light.colour = mix(light.colour, frame.box_colour.rgb, cover.x);
        light.transmittance *= 1.0 - cover.x;
    }
    light.colour += light.transmittance * frame.background.a * frame.background.rgb;
    light.transmittance *= 1.0 - frame.background.a;
    float opacity = 1.0 - light.transmittance;
    imageStore(picture, ivec2(corner), vec4(opacity > 0.0 ? light.colour / opacity : vec3(0), opacity));
}
