// Bounds of the extinction in each brick, from its range of values and the transfer function.
//
// R: majorant, an upper bound of the extinction. 0 in empty bricks; -1 if the whole cell of 4^3 bricks is empty, -2 if
// the whole cell of 16^3 bricks is.
// G: the certain extinction, a lower bound over the brick, if it exceeds half of the majorant, else 0.
//
// A workgroup handles a cell of 16^3 bricks, an invocation a cell of 4^3.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#extension GL_EXT_control_flow_attributes : require
#define OWN_GROUPS
#include "shaders/raycast/frame.glsl"
#include "shaders/raycast/volume.glsl"
#include "shaders/raycast/transfer.glsl"
#include "shaders/raycast/channels.glsl"

layout(local_size_x = majorant_cell, local_size_y = majorant_cell, local_size_z = majorant_cell) in;

shared uint visible_cells;

const int dips = peak_levels * transfer_entries;  // offset of the minima, which follow the maxima

// Returns the largest and smallest extinction of the table entries [first, last]. Uses sparse tables of ranges of
// 2^level entries: two overlapping ranges cover any interval.
vec2 extinctions_among(int first, int last) {
    int level = findMSB(last - first + 1);
    if (frame.trace.known.fault == float(fault_ends_only)) level = 0;
    int from = level * transfer_entries + first;
    int to = level * transfer_entries + last + 1 - (1 << level);
    return vec2(max(extinction_peaks[from], extinction_peaks[to]),
                min(extinction_peaks[dips + from], extinction_peaks[dips + to]));
}

// Includes an extra entry at either end to allow for rounding in filtering and in the table lookup.
vec2 structure_bounds(ivec3 brick) {
    vec2 ends = texelFetch(majorant_ranges, brick, 0).rg * frame.lookup.entry_scale + frame.lookup.entry_offset;
    ivec2 entries = ivec2(clamp(ends, vec2(0), vec2(transfer_entries - 1)) + 0.5) + ivec2(-1, 1);
    entries = clamp(entries, ivec2(0), ivec2(transfer_entries - 1));
    return extinctions_among(min(entries.x, entries.y), entries.y) * frame.lookup.bits;
}

// Returns true if a brick may contain flow above the threshold. Bricks have no information about phasors.
bool may_flow(ivec3 brick) {
    if (flow_kind == flow_off) return false;
    if (flow_kind == flow_phasor) return true;
    vec3 per_brick = frame.trace.brick_edge / volume_size() * frame.flow.bricks.xyz;
    ivec3 last = textureSize(flow_bricks, 0) - 1;
    ivec3 from = clamp(ivec3(vec3(brick) * per_brick), ivec3(0), last);
    ivec3 to = clamp(ivec3(vec3(brick + 1) * per_brick), ivec3(0), last);
    for (int z = from.z; z <= to.z; ++z)
        for (int y = from.y; y <= to.y; ++y)
            for (int x = from.x; x <= to.x; ++x) {
                vec2 speeds = texelFetch(flow_bricks, ivec3(x, y, z), 0).rg;
                speeds = abs(speeds * frame.flow.velocity_scale + frame.flow.velocity_offset);
                if (max(speeds.x, speeds.y) > frame.flow.threshold) return true;
            }
    return false;
}

float channel_peak(int c, int at) {
    const int first = max_channels * channel_entries_of_one;
    return uintBitsToFloat(channel_entries[first + c * channel_peaks_of_one + (at >> 2)][at & 3]);
}

// Returns the largest extinction of the entries between two values, with an extra entry at either end.
float largest_of_channel(int c, vec2 ends) {
    ivec2 entries = ivec2(channel_index(c, ends.x), channel_index(c, ends.y));
    int first = max(min(entries.x, entries.y) - 1, 0);
    int last = min(max(entries.x, entries.y) + 1, transfer_entries - 1);
    int level = findMSB(last - first + 1);
    return max(channel_peak(c, level * transfer_entries + first),
               channel_peak(c, level * transfer_entries + last + 1 - (1 << level)));
}

// Returns the majorant of a channel over all of its bricks that overlap a brick of the volume. Both may differ in size.
float channel_majorant(int c, ivec3 brick) {
    vec3 per_brick = frame.trace.brick_edge / volume_size() * frame.channels.channel[c].bricks.xyz;
    ivec3 end = channel_bricks(c) - 1;
    ivec3 from = clamp(ivec3(vec3(brick) * per_brick), ivec3(0), end);
    ivec3 to = clamp(ivec3(vec3(brick + 1) * per_brick - 1e-3), ivec3(0), end);
    float largest = 0.0;
    for (int z = from.z; z <= to.z; ++z)
        for (int y = from.y; y <= to.y; ++y)
            for (int x = from.x; x <= to.x; ++x)
                largest = max(largest, largest_of_channel(c, channel_brick(c, ivec3(x, y, z))));
    return largest * frame.channels.channel[c].bits;
}

// Flow replaces structure in part, so their mixture has at most the larger extinction. Channels add up.
vec2 bounds_of(ivec3 brick) {
    vec2 bits = structure_bounds(brick) * vec2(1, frame.trace.known.by_value_alone);
    if (may_flow(brick)) bits.x = max(bits.x, frame.flow.density);
    for (int c = 0; c < max_channels; ++c) {
        if (c < channel_count) bits.x += channel_majorant(c, brick);
    }
    vec2 bounds = min(bits * frame.trace.optical_per_bit, vec2(frame.trace.max_extinction));
    // Subtracting a small certain extinction would not pay off.
    if (bounds.y <= 0.5 * bounds.x) bounds.y = 0.0;
    if (frame.trace.known.fault == float(fault_half)) bounds *= 0.5;
    // Bricks that reach into the solid of an isosurface must not be skipped.
    const float hardly_any = 1e-20;
    if (has_isosurface && texelFetch(majorant_ranges, brick, 0).g >= frame.lookup.isovalue)
        bounds.x = max(bounds.x, hardly_any);
    return bounds;
}

void main() {
    if (gl_LocalInvocationIndex == 0) visible_cells = 0u;
    barrier();
    ivec3 size = textureSize(majorant_ranges, 0);
    ivec3 first = ivec3(gl_GlobalInvocationID) * majorant_cell;
    bool is_visible = false;
    for (int i = 0; i < majorant_cell * majorant_cell * majorant_cell; ++i) {
        ivec3 brick = first + (ivec3(i, i >> 2, i >> 4) & 3);
        if (any(greaterThanEqual(brick, size))) continue;
        vec2 bounds = bounds_of(brick);
        is_visible = is_visible || bounds.x > 0.0;
        imageStore(majorants_target, brick, vec4(bounds, 0, 0));
    }
    if (is_visible) atomicAdd(visible_cells, 1u);
    barrier();
    if (is_visible) return;
    float level = visible_cells == 0u ? -2.0 : -1.0;
    for (int i = 0; i < majorant_cell * majorant_cell * majorant_cell; ++i) {
        ivec3 brick = first + (ivec3(i, i >> 2, i >> 4) & 3);
        if (all(lessThan(brick, size))) imageStore(majorants_target, brick, vec4(level, 0, 0, 0));
    }
}
