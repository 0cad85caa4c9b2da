// Additional volumes with the same grid that are shown together with the volume, which is the first channel. Each
// channel has its own curve or labels.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/plan/described.h"
#include "compute/types.h"
#include "render/view/curve.h"

namespace echolux {

inline constexpr std::size_t max_channels = 4;  // including the volume
inline constexpr std::int64_t max_label = 1023;

enum class ChannelMode { view, mip };

// add: extinctions add up. over: replaces the channels before it, like flow.
enum class ChannelBlend { add, over };

// Meaning of the voxels with one label number. Number 0 is never visible.
struct TissueLabel {
    std::int64_t id = 0;
    std::string name{};
    std::vector<double> colour{0.8, 0.8, 0.8};
    double extinction = 120;  // per depth of the volume

    bool operator==(const TissueLabel&) const = default;
};

// Content of a channel's file.
struct ChannelVoxels {
    std::string file;
    std::string hash;  // fingerprint of the file
    VolumeGrid grid;
    const void* voxels = nullptr;
    std::shared_ptr<const void> owner{};  // keeps the voxels alive
};

struct Channel {
    std::string file;
    std::string curve = "automatic";  // preset, transfer function file, "labels" or label file
    std::string colour_map = "preset";
    double low = lowest_value;
    double high = highest_value;
    double opacity = 1;
    ChannelMode mode = ChannelMode::view;
    ChannelBlend blend = ChannelBlend::add;
    bool shown = true;

    // Content of the files. The code that sets their names also reads them.
    std::shared_ptr<const ChannelVoxels> volume{};
    std::optional<TransferCurve> own_curve{};
    std::optional<std::vector<TissueLabel>> labels{};  // voxels are label numbers; empty list: automatic colours

    bool is_seen() const { return shown && volume != nullptr; }
};

struct Channels {
    bool channel_1_shown = true;
    std::array<Channel, max_channels - 1> channels{};
};

template <>
const std::vector<Field<TissueLabel>>& describe<TissueLabel>();
template <>
const std::vector<Field<Channel>>& describe<Channel>();
template <>
const std::vector<Field<Channels>>& describe<Channels>();

// Returns the key of a field, e.g. "channel_2_file" for place 0, the first channel after the volume.
std::string channel_key(std::size_t place, std::string_view name);

inline constexpr std::string_view label_curve = "labels";

// Returns the labels of a channel: those of its file, else all numbers in colours that are easy to distinguish.
std::vector<TissueLabel> labels_of(const Channel& channel);

// Returns the channel that replaces a hidden volume: the first visible one without labels. Null if the volume is shown
// or there is no such channel.
const Channel* in_place_of_volume(const Channels& channels);

// Returns true if the channel's curve is a file name, not a preset or "labels".
bool names_file(const Channel& channel);

// Returns true if both contain the same voxels, curves and labels.
bool has_same_voxels(const Channels& a, const Channels& b);

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Channels& channels);

// Throws Error{bad_setting} with both files and sizes if a channel's grid differs from that of the volume `name`.
void check_channels(const Channels& channels, const VolumeGrid& grid, const std::string& name);

}  // namespace echolux
