// Volumes of the same voxels that are seen together with the volume, which is the first channel: each by a curve or by
// labels of its own.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/plan/describe.h"
#include "compute/types.h"
#include "render/view/curve.h"

namespace echolux {

inline constexpr std::size_t max_channels = 4;  // the volume among them
inline constexpr std::int64_t max_label = 1023;

enum class ChannelMode { view, mip };

// `over`: takes the place of what it covers, as flow does.
enum class ChannelBlend { add, over };

// What the voxels of one number are. Nothing is seen of number 0.
struct TissueLabel {
    std::int64_t id = 0;
    std::string name{};
    std::vector<double> colour{0.8, 0.8, 0.8};
    double extinction = 120;  // per depth of the volume

    bool operator==(const TissueLabel&) const = default;
};

// That the file of a channel holds.
struct ChannelVoxels {
    std::string file;
    std::string hash;  // its fingerprint
    VolumeGrid grid;
    const void* voxels = nullptr;
    std::shared_ptr<const void> owner{};  // of them
};

struct Channel {
    std::string file;
    std::string curve = "automatic";  // a preset, a file of a transfer function, "labels", or a file of labels
    std::string colour_map = "preset";
    double low = lowest_value;
    double high = highest_value;
    double opacity = 1;
    ChannelMode mode = ChannelMode::view;
    ChannelBlend blend = ChannelBlend::add;
    bool shown = true;

    // What the files hold: whoever sets a name reads its file.
    std::shared_ptr<const ChannelVoxels> volume{};
    std::optional<TransferCurve> own_curve{};
    std::optional<std::vector<TissueLabel>> labels{};  // voxels are numbers of them; empty: each has a colour by itself

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

// "channel_2_file" of the first beside the volume.
std::string channel_key(std::size_t place, std::string_view name);

inline constexpr std::string_view label_curve = "labels";

// What the numbers of a channel of labels are: as its file says, else of colours as far apart as can be.
std::vector<TissueLabel> labels_of(const Channel& channel);

// What takes the place of the volume where that is hidden: the first that is seen and holds no labels. nullptr:
// nothing.
const Channel* in_place_of_volume(const Channels& channels);

// Whether a channel's curve is that of a file: else it is a word.
bool names_file(const Channel& channel);

// Whether the same files were read.
bool has_same_voxels(const Channels& a, const Channels& b);

// What its fields' ranges do not say. Throws Error{bad_setting} naming the key.
void check_part(const Channels& channels);

// Throws Error{bad_setting} naming both files and sizes where a channel's voxels are not those of the volume, `name`.
void check_channels(const Channels& channels, const VolumeGrid& grid, const std::string& name);

}  // namespace echolux
