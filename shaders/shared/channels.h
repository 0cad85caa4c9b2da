// What the ray caster and the path tracer have to know of channels: volumes of the same voxels that are seen together
// with the volume, each by a curve or labels of its own.
#ifndef ECHOLUX_SHADERS_SHARED_CHANNELS_H
#define ECHOLUX_SHADERS_SHARED_CHANNELS_H

#ifdef __cplusplus
#include <glm/vec4.hpp>
namespace echolux::shared {
using vec4 = glm::vec4;
#define ECHOLUX_CONST inline constexpr int
#else
#define ECHOLUX_CONST const int
#endif

ECHOLUX_CONST max_channels = 3;  // beside the volume

// The specialization constant: how many there are, then a bit for each that holds labels, and one for each of which the
// largest on the ray is seen, over the picture.
ECHOLUX_CONST channels_mask = 3;
ECHOLUX_CONST channels_label_bit = 2;
ECHOLUX_CONST channels_maximum_bit = 5;

// The buffer: for each channel its table, extinction, colour, and the first entry from there on that is seen at all; then
// for each the largest of 1, 2, 4 ... entries, four to a word.
ECHOLUX_CONST channel_entries_of_one = 1024;  // transfer_entries; of labels their numbers
ECHOLUX_CONST channel_peaks_of_one = 11 * 1024 / 4;

struct ChannelFrame {
    vec4 lookup;  // texture value to entry: scale, offset; extinction of the table to optical depth in bits per length
    vec4 look;    // opacity, at most 1, by the largest extinction, or of labels by 1; 1: it lies over what was before; its slopes to those of the
                  // volume; opacity, at most 1
    vec4 bricks;  // texture coordinates to bricks
};

struct ChannelsFrame {
    ChannelFrame channel[max_channels];
};

#ifdef __cplusplus
static_assert(sizeof(ChannelsFrame) == 16 * 3 * max_channels, "the layout of std140");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
