// How much each cell of the volume takes from light that crosses it: the first of two steps to the light volume. Eight
// samples, each the mean of the voxels around it, cover a cell of four voxels an edge.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shaders/raycast/frame.glsl"
#include "shaders/raycast/volume.glsl"
#include "shaders/raycast/transfer.glsl"

void main() {
    ivec3 cell = ivec3(gl_GlobalInvocationID);
    ivec3 size = imageSize(cells_target);
    if (any(greaterThanEqual(cell, size))) return;
    float sum = 0.0;
    for (int corner = 0; corner < 8; ++corner) {
        vec3 part = 0.25 + 0.5 * vec3(corner & 1, corner >> 1 & 1, corner >> 2);
        int index = table_index(sampled((vec3(cell) + part) / vec3(size)));
        sum += texelFetch(extinctions, index, 0).r;
    }
    imageStore(cells_target, cell, vec4(0.125 * sum * frame.lookup.z * frame.light.cell.w));
}
