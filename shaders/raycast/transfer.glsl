// From texture values to the table of colour and extinction.

int table_index(float value) {
    return int(clamp(value * frame.lookup.x + frame.lookup.y, 0.0, float(transfer_entries - 1)) + 0.5);
}

// 0: the range's low end, 1: its high end; beyond them outside [0, 1].
float level_of(float value) {
    return (value * frame.lookup.x + frame.lookup.y) / float(transfer_entries - 1);
}

vec3 colour_of(float value) {
    return texelFetch(colours, table_index(value), 0).rgb;
}
