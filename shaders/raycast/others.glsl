// Volumes shown together with the main one: flow first, then channels.

bool has_others() {
    return flow_kind != flow_off || channel_count > 0;
}

// Returns true if a run of samples contains nothing visible of a channel, from the brick at its centre.
bool is_without_channel(int c, Samples samples, float begin) {
    vec2 ends = channel_ends(c, middle_of_run(samples, begin));
    ivec2 entries = ivec2(channel_index(c, ends.x), channel_index(c, ends.y));
    return int(channel_entry(c, min(entries.x, entries.y)).z) > max(entries.x, entries.y);
}

// Tests flow and all channels in this way.
bool is_without_others(Samples samples, float begin) {
    bool is_without = is_without_flow(samples, begin);
    if (channel_count > 0 && !skips) return false;
    for (int c = 0; c < max_channels; ++c) {
        if (c < channel_count && is_body(c) && is_without) is_without = is_without_channel(c, samples, begin);
    }
    return is_without;
}

void add_others(vec3 at, float over, inout float optical, inout vec3 colour) {
    if (flow_kind != flow_off) add_flow(at, over, optical, colour);
    if (channel_count > 0) add_channels(at, over, optical, colour);
}
