// From texture values to the table of colour and extinction.

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
    return table_in_buffer ? uintBitsToFloat(entries[index].x) : texelFetch(extinctions, index, 0).r;
}

vec3 colour_at(int index) {
    return table_in_buffer ? unpackUnorm4x8(entries[index].y).rgb : texelFetch(colours, index, 0).rgb;
}

vec3 colour_of(float value) {
    return colour_at(table_index(value));
}
