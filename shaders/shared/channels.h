// Interface between C++ and the shaders for channels: additional volumes with the same grid, each with its own curve or
// labels.
#ifndef ECHOLUX_SHADERS_SHARED_CHANNELS_H
#define ECHOLUX_SHADERS_SHARED_CHANNELS_H

#include "shaders/shared/language.h"

ECHOLUX_SHARED_BEGIN

ECHOLUX_CONST max_channels = 3;  // in addition to the volume

// Specialization constant: number of channels, then a bit per channel for labels, then a bit per channel for max
// projections over the picture.
ECHOLUX_CONST channels_mask = 3;
ECHOLUX_CONST channels_label_bit = 2;
ECHOLUX_CONST channels_maximum_bit = 5;

// Buffer: per channel its table with extinction, colour and next visible entry; then per channel the largest extinction
// of 1, 2, 4 ... entries, four per word.
ECHOLUX_CONST channel_entries_of_one = 1024;  // equals transfer_entries; indexed by label number for labels
ECHOLUX_CONST channel_peaks_of_one = 11 * 1024 / 4;

struct ChannelFrame {
    float entry_scale, entry_offset;  // from texture value to entry
    float bits;                       // table extinction to optical depth in bits per length
    float padding;
    float weight;       // opacity (max 1) over the largest extinction, or the opacity for labels
    float is_over;      // 1: replaces channels before it
    float slope_scale;  // from its gradients to the volume's
    float opacity;      // max 1
    vec4 bricks;        // texture coordinates to bricks
};

struct ChannelsFrame {
    ChannelFrame channel[max_channels];
};

ECHOLUX_LAYOUT(ChannelsFrame, 16 * 3 * max_channels)
ECHOLUX_SHARED_END

#endif
