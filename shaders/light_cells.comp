// First of two passes to the light volume: the absorption of each cell, four voxels wide. Eight interpolated samples
// cover the cell.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#extension GL_EXT_control_flow_attributes : require
#include "shaders/raycast/frame.glsl"
#include "shaders/raycast/volume.glsl"
#include "shaders/raycast/transfer.glsl"
#include "shaders/raycast/cut.glsl"
#include "shaders/raycast/channels.glsl"

const float bits_of_surface = 8.0;  // isosurfaces are opaque

// Returns the optical depth of a cell at `at`, in bits per cell length.
float bits_at(vec3 at) {
    if (is_cut_away(at)) return 0.0;
    float value = sampled(at);
    if (mode == mode_isosurface) return value >= frame.lookup.isovalue ? bits_of_surface : 0.0;
    float extinction = texelFetch(extinctions, table_index(value), 0).r;
    if (second_axis != second_off) extinction = entry_extinction(table_entry(value, at));
    float bits = extinction * frame.lookup.bits * frame.light.cell_length;
    vec3 colour = vec3(0);
    if (channel_count > 0) add_channels(at, frame.light.cell_length, bits, colour);
    return bits;
}

void main() {
    ivec3 cell = ivec3(gl_GlobalInvocationID);
    ivec3 size = imageSize(cells_target);
    if (any(greaterThanEqual(cell, size))) return;
    float sum = 0.0;
    for (int corner = 0; corner < 8; ++corner) {
        vec3 part = 0.25 + 0.5 * vec3(corner & 1, corner >> 1 & 1, corner >> 2);
        sum += bits_at((vec3(cell) + part) / vec3(size));
    }
    imageStore(cells_target, cell, vec4(0.125 * sum));
}
