// The largest value in each brick of a volume whose peaks are known: as many voxels deep as a brick is, so that a brick
// needs one for each of its lines. Neighbouring invocations read neighbouring peaks.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/shared/bricks.h"

layout(local_size_x = peaks_group) in;
layout(constant_id = 0) const int edge = 8;  // voxels
layout(constant_id = 1) const int kind = peaks_u8;

layout(push_constant) uniform Part {
    int peaks, a_scans;  // of a line, of a slice
    int slices;          // from the first: no more are looked at
    int first;           // slab of bricks
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

void main() {
    ivec3 brick = ivec3(gl_GlobalInvocationID) + ivec3(0, 0, first);
    if (any(greaterThanEqual(brick, imageSize(ranges)))) return;
    ivec2 begin = brick.yz * edge;
    ivec2 end = min(begin + edge, ivec2(a_scans, slices));
    uint code = 0u;
    float number = nothing;
    for (int b = begin.y; b < end.y; ++b)
        for (int a = begin.x; a < end.x; ++a) {
            uint i = (uint(b) * uint(a_scans) + uint(a)) * uint(peaks) + uint(brick.x);
            if (is_code) {
                code = max(code, code_at(i));
            } else {
                number = max(number, number_at(i));
            }
        }
    // The ranges' format has the steps of the voxels' codes: what is stored is the code again.
    if (is_code) number = float(code) / (kind == peaks_u8 ? 255.0 : 65535.0);
    imageStore(ranges, brick, vec4(nothing, number, 0, 0));
}
