// Draws shapes over a finished picture. One workgroup per tile, for tiles with shapes only. Edges are antialiased by
// the coverage of the pixel, and later shapes cover earlier ones.
// The including file defines picture_format, because the format is part of a storage image that is read and written.
layout(local_size_x = annotate_tile, local_size_y = annotate_tile) in;

layout(push_constant) uniform Part { AnnotatePart part; };

layout(std430, set = 0, binding = annotate_shapes) readonly buffer Shapes { Shape shapes[]; };
layout(std430, set = 0, binding = annotate_tiles) readonly buffer Tiles { uvec4 tiles[]; };
layout(std430, set = 0, binding = annotate_list) readonly buffer List { uint list[]; };
layout(std430, set = 0, binding = annotate_coverage) readonly buffer Coverage { uint coverage[]; };
layout(set = 0, binding = annotate_picture, picture_format) uniform image2D picture;

// Returns the coverage of a pixel by a half plane whose edge is `distance` pixels beyond the pixel's centre.
float within(float distance) {
    return clamp(0.5 + distance, 0.0, 1.0);
}

// Lines are rectangles of the given width, without caps.
float covered_by_line(Shape shape, vec2 pixel) {
    vec2 along = shape.at.zw - shape.at.xy;
    float reach = 0.5 * length(along);
    vec2 unit = along / max(2.0 * reach, 1e-6);
    vec2 off = pixel - 0.5 * (shape.at.xy + shape.at.zw);
    float across = abs(dot(off, vec2(-unit.y, unit.x)));
    return within(0.5 * shape.more.x - across) * within(reach - abs(dot(off, unit)));
}

float covered_by_rectangle(Shape shape, vec2 pixel) {
    vec2 inside = min(shape.at.zw, pixel + 0.5) - max(shape.at.xy, pixel - 0.5);
    return max(inside.x, 0.0) * max(inside.y, 0.0);
}

// Returns the signed distance to an edge, positive inside a triangle with clockwise corners.
float inside_edge(vec2 from, vec2 to, vec2 pixel) {
    vec2 unit = normalize(to - from);
    return dot(pixel - from, vec2(-unit.y, unit.x));
}

// Approximate: the nearest edge decides.
float covered_by_triangle(Shape shape, vec2 pixel) {
    float a = inside_edge(shape.at.xy, shape.at.zw, pixel);
    float b = inside_edge(shape.at.zw, shape.more, pixel);
    float c = inside_edge(shape.more, shape.at.xy, pixel);
    return within(min(a, min(b, c)));
}

float covered_by_glyph(Shape shape, vec2 pixel) {
    if (any(lessThan(pixel, shape.at.xy)) || any(greaterThan(pixel, shape.at.zw))) return 0.0;
    uvec2 at = uvec2(pixel - shape.at.xy);
    uint i = at.y * uint(shape.at.z - shape.at.x) + at.x;
    uint word = coverage[shape.coverage + i / 4];
    return float(bitfieldExtract(word, int(8 * (i % 4)), 8)) / 255.0;
}

float covered(Shape shape, vec2 pixel) {
    if (shape.kind == shape_line) return covered_by_line(shape, pixel);
    if (shape.kind == shape_rectangle) return covered_by_rectangle(shape, pixel);
    if (shape.kind == shape_triangle) return covered_by_triangle(shape, pixel);
    return covered_by_glyph(shape, pixel);
}

// Blends with premultiplied alpha; pictures store straight alpha.
void main() {
    uint index = gl_WorkGroupID.y * annotate_row + gl_WorkGroupID.x;
    if (index >= part.tiles) return;
    uvec4 tile = tiles[index];
    ivec2 here = ivec2(tile.xy * annotate_tile + gl_LocalInvocationID.xy);
    if (any(greaterThanEqual(here, ivec2(part.region.zw)))) return;
    vec2 pixel = vec2(here) + part.region.xy + 0.5;

    vec4 seen = imageLoad(picture, here);
    seen.rgb *= seen.a;
    for (uint i = tile.z; i < tile.w; ++i) {
        Shape shape = shapes[list[i]];
        float opacity = shape.colour.a * covered(shape, pixel);
        seen = mix(seen, vec4(shape.colour.rgb, 1.0), opacity);
    }
    imageStore(picture, here, vec4(seen.a > 0.0 ? seen.rgb / seen.a : vec3(0), seen.a));
}
