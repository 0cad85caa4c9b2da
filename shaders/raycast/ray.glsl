// Rays of pixels and the samples along them: `count` samples at a distance of `spacing`, the first half a spacing
// inside the volume. Samples are processed in runs short enough to be covered by a single brick, and runs without
// anything visible are skipped.

#include "shaders/raycast/panorama.glsl"

// Intersects a ray with the volume. The unfilled part of a first volume is excluded.
Ray ray_from(vec3 start, vec3 unit, vec2 pixel) {
    Ray ray;
    ray.pixel = pixel;
    ray.start = start * frame.per_extent + 0.5;
    ray.unit = unit;
    ray.direction = ray.unit * frame.per_extent;
    vec3 slope = mix(ray.direction, vec3(1e-12), lessThan(abs(ray.direction), vec3(1e-12)));
    vec3 a = -ray.start / slope;
    vec3 end = vec3(1, 1, rolling == rolling_first && !has_planes ? frame.filled.end : 1.0);
    vec3 b = (end - ray.start) / slope;
    vec3 near = min(a, b);
    vec3 far = max(a, b);
    ray.enter = max(max(near.x, near.y), max(near.z, frame.near_distance));
    ray.leave = min(far.x, min(far.y, far.z));
    return ray;
}

// Returns the ray of a pixel, given from the picture's top left corner.
Ray ray_of(vec2 pixel) {
    vec2 from_middle = pixel - 0.5 * frame.picture;
    if (is_panorama) return ray_from(frame.eye.xyz, unit_around(from_middle), pixel);
    vec3 start = (frame.eye + from_middle.x * frame.eye_x + from_middle.y * frame.eye_y).xyz;
    vec3 unit = normalize((frame.ray + from_middle.x * frame.ray_x + from_middle.y * frame.ray_y).xyz);
    return ray_from(start, unit, pixel);
}

// Axis for depths. With an off-centre eye (stereo), it differs from the ray through the centre of the picture.
vec3 axis_of_sight() {
    vec3 right = normalize(frame.eye_x.xyz + frame.ray_x.xyz);
    return frame.ray.xyz - dot(frame.ray.xyz, right) * right;
}

struct Samples {
    vec3 first, stride;
    float count, spacing;
    float enter;  // distance along the ray, half a spacing before the first sample
};

Samples samples_of(Ray ray) {
    float path = ray.leave - ray.enter;
    float count = max(ceil(path / frame.step_length - 1e-3), 1.0);
    vec3 stride = ray.direction * (path / count);
    vec3 first = ray.start + ray.direction * ray.enter + sample_offset(ray.pixel) * stride;
    return Samples(first, stride, count, path / count, ray.enter);
}

vec3 place(Samples samples, float index) {
    return samples.first + index * samples.stride;
}

float length_to(Samples samples, float index) {
    return samples.enter + (index + 0.5) * samples.spacing;
}

vec3 middle_of_run(Samples samples, float begin) {
    return place(samples, begin + 0.5 * frame.run_length - 0.5);
}

// Returns the brick at the centre of a run, which covers the whole run.
ivec3 brick_of_run(Samples samples, float begin) {
    return clamp(ivec3(middle_of_run(samples, begin) * frame.bricks.xyz), ivec3(0), textureSize(bricks, 0) - 1);
}

// Returns brick_empty, brick_thin or brick_dense.
int kind_of_run(Samples samples, float begin) {
    if (!skips) return brick_dense;
    ivec3 brick = brick_of_run(samples, begin);
    uint kind = texelFetch(classes, brick, 0).r;
    return int(rolling == rolling_over ? max(kind, texelFetch(previous_classes, brick, 0).r) : kind);
}

bool is_empty(Samples samples, float begin) {
    return kind_of_run(samples, begin) == brick_empty;
}

float max_in_run(Samples samples, float begin) {
    ivec3 brick = brick_of_run(samples, begin);
    float most = texelFetch(bricks, brick, 0).g;
    return rolling == rolling_over ? max(most, texelFetch(previous_bricks, brick, 0).g) : most;
}

float min_in_run(Samples samples, float begin) {
    ivec3 brick = brick_of_run(samples, begin);
    float least = texelFetch(bricks, brick, 0).r;
    return rolling == rolling_over ? min(least, texelFetch(previous_bricks, brick, 0).r) : least;
}
