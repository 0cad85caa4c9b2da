// From texture values to the table of colour and extinction.
#include "shaders/raycast/second.glsl"

// In the table, whatever the value: of what is no number, clamp() says nothing.
int table_index(float value) {
    int index = int(clamp(value * frame.lookup.x + frame.lookup.y, 0.0, float(transfer_entries - 1)) + 0.5);
    return index & (transfer_entries - 1);
}

// 0: the range's low end, 1: its high end; beyond them outside [0, 1].
float level_of(float value) {
    return (value * frame.lookup.x + frame.lookup.y) / float(transfer_entries - 1);
}

// A GPU reads a buffer beside its texture units, which have enough to do with the volume; software Vulkan reads textures
// faster.
float extinction_at(int index) {
    return is_software ? texelFetch(extinctions, index, 0).r : uintBitsToFloat(entries[index].x);
}

vec3 colour_at(int index) {
    return is_software ? texelFetch(colours, index, 0).rgb : unpackUnorm4x8(entries[index].y).rgb;
}

// The entry of a place: of a table over two axes, in the row of its second. Where nothing of a value is seen, whatever the
// second is, none is asked for.
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
