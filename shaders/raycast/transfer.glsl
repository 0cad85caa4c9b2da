// Lookup of colour and extinction by texture value.
#include "shaders/raycast/second.glsl"

// Returns a valid index for any value, including NaN, for which the result of clamp() is undefined.
int table_index(float value) {
    float entry = value * frame.lookup.entry_scale + frame.lookup.entry_offset;
    int index = int(clamp(entry, 0.0, float(transfer_entries - 1)) + 0.5);
    return index & (transfer_entries - 1);
}

// Returns 0 at the low end of the range and 1 at its high end; not clamped.
float level_of(float value) {
    return (value * frame.lookup.entry_scale + frame.lookup.entry_offset) / float(transfer_entries - 1);
}

// GPUs read buffers without using their texture units, which are busy with the volume. Software Vulkan reads textures
// faster.
float extinction_at(int index) {
    return is_software ? texelFetch(extinctions, index, 0).r : uintBitsToFloat(entries[index].x);
}

vec3 colour_at(int index) {
    return is_software ? texelFetch(colours, index, 0).rgb : unpackUnorm4x8(entries[index].y).rgb;
}

// Returns the table entry at a point. With two axes, the row depends on the second one, which is only computed for
// values that are visible in some row.
int table_entry(float value, vec3 at) {
    int index = table_index(value);
    if (second_axis == second_off || extinction_at(index) <= 0.0) return index;
    return index + transfer_entries * second_row(at);
}

int entry_of(vec3 at) {
    return table_entry(sampled(at), at);
}

float entry_extinction(int entry) {
    return second_axis == second_off ? extinction_at(entry) : table_word(tables_plane + 2 * entry);
}

vec3 entry_colour(int entry) {
    return second_axis == second_off ? colour_at(entry) : unpackUnorm4x8(curve_tables[tables_plane + 2 * entry + 1]).rgb;
}

vec3 colour_of(float value) {
    return colour_at(table_index(value));
}
