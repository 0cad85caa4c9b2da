// Largest value per brick from the peaks of a volume. A peak covers as many voxels along depth as a brick, so a brick
// combines one peak of each of its A-scans. Neighbouring invocations read neighbouring peaks. If A-scans of 8-bit peaks
// are whole 32-bit words, each invocation handles four bricks at once.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/shared/bricks.h"

layout(local_size_x = peaks_group, local_size_y = peaks_group_a) in;
layout(constant_id = 0) const int edge = 8;  // in voxels
layout(constant_id = 1) const int kind = peaks_u8;
layout(constant_id = 2) const bool by_words = false;

layout(push_constant) uniform Part {
    int peaks, a_scans;  // per A-scan, per B-scan
    int slices;          // only the first `slices` B-scans are read
    int first;           // first slab of bricks along z
};

layout(set = 0, binding = binding_peaks_source) readonly buffer Source { uint words[]; };
layout(set = 0, binding = binding_peaks_ranges) uniform writeonly image3D ranges;

const float nothing = -3e38;
const bool is_code = kind == peaks_u8 || kind == peaks_u16;

uint code_at(uint i) {
    if (kind == peaks_u8) return bitfieldExtract(words[i >> 2], 8 * int(i & 3u), 8);
    return bitfieldExtract(words[i >> 1], 16 * int(i & 1u), 16);
}

float number_at(uint i) {
    if (kind == peaks_f32) return uintBitsToFloat(words[i]);
    vec2 two = unpackHalf2x16(words[i >> 1]);
    return (i & 1u) == 0u ? two.x : two.y;
}

// Returns the index of the i-th A-scan of a brick. Beyond the edge of the volume or of the filled slices, the last one
// is repeated.
uint line_at(ivec3 brick, int i) {
    ivec2 at = min(brick.yz * edge + ivec2(i % edge, i / edge), ivec2(a_scans, slices) - 1);
    return uint(at.y) * uint(a_scans) + uint(at.x);
}

// Stores the range of a brick. The min is unknown, and bricks without filled slices are empty.
void store(ivec3 brick, float number) {
    imageStore(ranges, brick, vec4(nothing, brick.z * edge < slices ? number : nothing, 0, 0));
}

// Handles four bricks at once. Each byte is compared in place within its word.
void four_bricks(ivec3 first_brick) {
    uvec4 most = uvec4(0);
    for (int i = 0; i < edge * edge; ++i) {
        uint four = words[line_at(first_brick, i) * uint(peaks >> 2) + uint(first_brick.x >> 2)];
        most = max(most, uvec4(four & 0xffu, four & 0xff00u, four & 0xff0000u, four));
    }
    most >>= uvec4(0, 8, 16, 24);
    for (int i = 0; i < 4; ++i) store(first_brick + ivec3(i, 0, 0), float(most[i]) / 255.0);
}

void one_brick(ivec3 brick) {
    uint code = 0u;
    float number = nothing;
    for (int i = 0; i < edge * edge; ++i) {
        uint at = line_at(brick, i) * uint(peaks) + uint(brick.x);
        if (is_code) {
            code = max(code, code_at(at));
        } else {
            number = max(number, number_at(at));
        }
    }
    // The ranges have the quantization steps of the voxels, so the stored value is exactly the code.
    store(brick, is_code ? float(code) / (kind == peaks_u8 ? 255.0 : 65535.0) : number);
}

void main() {
    ivec3 brick = ivec3(gl_GlobalInvocationID) * ivec3(by_words ? 4 : 1, 1, 1) + ivec3(0, 0, first);
    if (any(greaterThanEqual(brick, imageSize(ranges)))) return;
    if (by_words) {
        four_bricks(brick);
    } else {
        one_brick(brick);
    }
}
