// Channels: additional volumes with the same grid.
//
// Where several overlap, extinctions add up and colours are averaged with the extinctions as weights, so the order does
// not matter. A channel that blends over the others replaces them in proportion to its density, like flow.
//
// Label numbers cannot be interpolated. The fractions of labels in the neighbourhood are interpolated instead, with a
// quadratic B-spline over 27 voxels (P. Thevenaz et al., "Interpolation revisited", IEEE TMI 19(7), 2000) that has
// smooth gradients.

const int channel_count = channels_kind & channels_mask;

struct ChannelHere {
    float bits;    // optical depth in bits per length
    float weight;  // 0 to the opacity: weight against other channels
    vec3 colour;
    vec3 plain;    // colour in mixtures by weight instead of extinction
    vec3 slope;    // gradient of labels, per voxel
};

bool has_labels(int c) {
    return (channels_kind >> (channels_label_bit + c) & 1) != 0;
}

// Returns true if the channel takes part in compositing. Otherwise its max along the ray is shown over the picture.
bool is_body(int c) {
    return (channels_kind >> (channels_maximum_bit + c) & 1) == 0;
}

float channel_value(int c, vec3 at) {
    if (c == 0) return textureLod(channel_0, at, 0.0).r;
    if (c == 1) return textureLod(channel_1, at, 0.0).r;
    return textureLod(channel_2, at, 0.0).r;
}

float channel_voxel(int c, ivec3 voxel) {
    if (c == 0) return texelFetch(channel_0, voxel, 0).r;
    if (c == 1) return texelFetch(channel_1, voxel, 0).r;
    return texelFetch(channel_2, voxel, 0).r;
}

ivec3 channel_size(int c) {
    if (c == 0) return textureSize(channel_0, 0);
    if (c == 1) return textureSize(channel_1, 0);
    return textureSize(channel_2, 0);
}

// Range of the values in a brick and its neighbours.
vec2 channel_brick(int c, ivec3 brick) {
    if (c == 0) return texelFetch(channel_bricks_0, brick, 0).rg;
    if (c == 1) return texelFetch(channel_bricks_1, brick, 0).rg;
    return texelFetch(channel_bricks_2, brick, 0).rg;
}

ivec3 channel_bricks(int c) {
    if (c == 0) return textureSize(channel_bricks_0, 0);
    if (c == 1) return textureSize(channel_bricks_1, 0);
    return textureSize(channel_bricks_2, 0);
}

vec2 channel_ends(int c, vec3 at) {
    ivec3 brick = ivec3(at * frame.channels.channel[c].bricks.xyz);
    return channel_brick(c, clamp(brick, ivec3(0), channel_bricks(c) - 1));
}

// Returns a valid index for any value, including NaN, for which the result of clamp() is undefined.
int channel_index(int c, float value) {
    float entry = value * frame.channels.channel[c].entry_scale + frame.channels.channel[c].entry_offset;
    int index = int(clamp(entry, 0.0, float(channel_entries_of_one - 1)) + 0.5);
    return index & (channel_entries_of_one - 1);
}

// Extinction as float bits, colour as RGBA8, next visible entry.
uvec4 channel_entry(int c, int index) {
    return channel_entries[c * channel_entries_of_one + index];
}

float channel_extinction(uvec4 entry) {
    return uintBitsToFloat(entry.x);
}

vec3 channel_colour(uvec4 entry) {
    return unpackUnorm4x8(entry.y).rgb;
}

struct LabelsHere {
    vec4 light;  // mean of colour times extinction, mean extinction
    vec4 seen;   // sum of the colours of visible labels, their fraction
    vec3 slope;  // gradient of that fraction, per voxel
};

// Returns the B-spline's weight along each axis for voxels at a distance of `off`, and below its derivative.
vec3 spline_shares(vec3 off) {
    vec3 far = 1.5 - abs(off);
    return mix(0.5 * far * far, 0.75 - off * off, lessThan(abs(off), vec3(0.5)));
}

vec3 spline_slopes(vec3 off) {
    return mix(sign(off) * (abs(off) - 1.5), -2.0 * off, lessThan(abs(off), vec3(0.5)));
}

LabelsHere labels_at(int c, vec3 at) {
    vec2 ends = channel_ends(c, at);
    if (ends.x == ends.y) {  // uniform neighbourhood
        uvec4 entry = channel_entry(c, channel_index(c, ends.x));
        float extinction = channel_extinction(entry);
        vec4 seen = extinction > 0.0 ? vec4(channel_colour(entry), 1.0) : vec4(0);
        return LabelsHere(extinction * seen, seen, vec3(0));
    }
    ivec3 size = channel_size(c);
    vec3 place = at * vec3(size) - 0.5;
    ivec3 middle = ivec3(floor(place + 0.5));
    LabelsHere sum = LabelsHere(vec4(0), vec4(0), vec3(0));
    // Not unrolled, which would slow down the compilation of shaders.
    [[dont_unroll]] for (int row = 0; row < 9; ++row) {
        for (int x = -1; x <= 1; ++x) {
            ivec3 voxel = middle + ivec3(x, row % 3 - 1, row / 3 - 1);
            vec3 off = place - vec3(voxel);
            uvec4 entry =
                channel_entry(c, channel_index(c, channel_voxel(c, clamp(voxel, ivec3(0), size - 1))));
            float extinction = channel_extinction(entry);
            if (extinction <= 0.0) continue;
            vec3 shares = spline_shares(off);
            vec3 slopes = spline_slopes(off);
            vec4 seen = shares.x * shares.y * shares.z * vec4(channel_colour(entry), 1.0);
            sum.seen += seen;
            sum.light += extinction * seen;
            sum.slope += vec3(slopes.x * shares.y * shares.z, shares.x * slopes.y * shares.z,
                              shares.x * shares.y * slopes.z);
        }
    }
    return sum;
}

ChannelHere channel_at(int c, vec3 at) {
    float bits = frame.channels.channel[c].bits;
    float weight = frame.channels.channel[c].weight;
    if (has_labels(c)) {
        LabelsHere here = labels_at(c, at);
        return ChannelHere(here.light.a * bits, here.seen.a * weight, here.light.rgb / max(here.light.a, 1e-20),
                           here.seen.rgb / max(here.seen.a, 1e-20), here.slope);
    }
    uvec4 entry = channel_entry(c, channel_index(c, channel_value(c, at)));
    float extinction = channel_extinction(entry);
    vec3 colour = channel_colour(entry);
    return ChannelHere(extinction * bits, extinction * weight, colour, colour, vec3(0));
}

// Returns the fraction of the other channels that remains visible next to this one.
float left_beside(int c, ChannelHere here) {
    return 1.0 - frame.channels.channel[c].is_over * min(here.weight, 1.0);
}

// Linear interpolation that returns `a` and `b` exactly for shares of 0 and 1.
vec3 mixed(vec3 a, vec3 b, float share) {
    return a * (1.0 - share) + b * share;
}

// Adds the channels to a step of length `over`: updates its optical depth in bits and its colour.
void add_channels(vec3 at, float over, inout float optical, inout vec3 colour) {
    for (int c = 0; c < max_channels; ++c) {
        if (c >= channel_count || !is_body(c)) continue;
        ChannelHere here = channel_at(c, at);
        float own = here.bits * over;
        float both = optical * left_beside(c, here) + own;
        colour = mixed(colour, here.colour, own / max(both, 1e-20));
        optical = both;
    }
}

// Adds the channels to an opaque colour.
vec3 with_channels(vec3 at, vec3 colour) {
    for (int c = 0; c < max_channels; ++c) {
        if (c >= channel_count) continue;
        ChannelHere here = channel_at(c, at);
        float weight = min(here.weight, 1.0);
        vec3 together = colour + here.plain * weight * (1.0 - colour);
        colour = mix(together, mixed(colour, here.plain, weight), frame.channels.channel[c].is_over);
    }
    return colour;
}

// ---- gradients, in texture values of the volume per smallest voxel edge

vec3 label_slope(int c, ChannelHere here) {
    vec3 per_voxel = 2.0 * frame.per_difference.xyz * frame.gradient_step.xyz * vec3(channel_size(c));
    return here.slope * per_voxel * frame.channels.channel[c].slope_scale;
}

vec3 channel_gradient(int c, vec3 at, ChannelHere here) {
    if (has_labels(c)) return label_slope(c, here);
    vec3 h = frame.gradient_step.xyz;
    return vec3(channel_value(c, at + vec3(h.x, 0, 0)) - channel_value(c, at - vec3(h.x, 0, 0)),
                channel_value(c, at + vec3(0, h.y, 0)) - channel_value(c, at - vec3(0, h.y, 0)),
                channel_value(c, at + vec3(0, 0, h.z)) - channel_value(c, at - vec3(0, 0, h.z))) *
           frame.per_difference.xyz * frame.channels.channel[c].slope_scale;
}

// Tetrahedral differences with four samples, see quick_gradient() in volume.glsl.
vec3 quick_channel_gradient(int c, vec3 at, ChannelHere here) {
    if (has_labels(c)) return label_slope(c, here);
    const vec3 corners[4] = {vec3(1, -1, -1), vec3(-1, -1, 1), vec3(-1, 1, -1), vec3(1, 1, 1)};
    const float half_square = 0.70710678;
    vec3 sum = vec3(0);
    for (int i = 0; i < 4; ++i)
        sum += corners[i] * channel_value(c, at + half_square * corners[i] * frame.gradient_step.xyz);
    return sum * half_square * frame.per_difference.xyz * frame.channels.channel[c].slope_scale;
}

// Replaces the volume's gradient by the mean of all gradients, weighted by extinction.
void mix_slopes(vec3 at, inout vec3 slope) {
    float bits = entry_extinction(entry_of(at)) * frame.lookup.bits;
    for (int c = 0; c < max_channels; ++c) {
        if (c >= channel_count || !is_body(c)) continue;
        ChannelHere here = channel_at(c, at);
        if (here.bits <= 0.0) continue;
        bits = bits * left_beside(c, here) + here.bits;
        slope = mixed(slope, quick_channel_gradient(c, at, here), here.bits / bits);
    }
}

// For paths: selects a single gradient with a probability proportional to its extinction. Rescales `u` after each
// decision to use one random number for all.
void draw_slope(vec3 at, float u, inout vec3 slope) {
    float bits = entry_extinction(entry_of(at)) * frame.lookup.bits;
    int drawn = -1;
    ChannelHere there;
    for (int c = 0; c < max_channels; ++c) {
        if (c >= channel_count) continue;
        ChannelHere here = channel_at(c, at);
        bits = bits * left_beside(c, here) + here.bits;
        float share = here.bits / max(bits, 1e-20);
        if (u < share) {
            drawn = c;
            there = here;
            u /= max(share, 1e-20);
        } else {
            u = (u - share) / max(1.0 - share, 1e-20);
        }
    }
    for (int c = 0; c < max_channels; ++c) {
        if (c < channel_count && drawn == c) slope = channel_gradient(c, at, there);
    }
}
