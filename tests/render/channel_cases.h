// Shared by the tests of channels: additional volumes with a constant value or with labels.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rendering.h"

namespace echolux::test {

// The channel has its own copy of the voxels.
inline std::shared_ptr<const ChannelVoxels> channel_voxels(const VolumeGrid& grid, const ValueAt& value,
                                                           const std::string& file = "channel.nrrd") {
    const auto bytes = std::make_shared<const std::vector<std::byte>>(voxels(grid, value));
    return std::make_shared<const ChannelVoxels>(ChannelVoxels{file, "", grid, bytes->data(), bytes});
}

// A channel with a preset, from 0 to 40.
inline Channel volume_channel(const VolumeGrid& grid, const ValueAt& value, const std::string& curve) {
    return Channel{.curve = curve, .low = 0, .high = 40, .volume = channel_voxels(grid, value)};
}

// The same colour and extinction over the whole range.
inline TransferCurve even_curve(double red, double green, double blue, double extinction, double length = 0) {
    return {{{0, red, green, blue, extinction}, {1, red, green, blue, extinction}}, "", true, length};
}

inline Channel even_channel(const VolumeGrid& grid, const TransferCurve& curve) {
    Channel channel = volume_channel(
        grid, [](auto...) { return 20.0; }, "of the test");
    channel.own_curve = curve;
    return channel;
}

inline Channel label_channel(const VolumeGrid& grid, const ValueAt& id, std::vector<TissueLabel> labels) {
    VolumeGrid of = grid;
    of.type = VoxelType::u8;
    of.quantity = of.unit = "";
    return Channel{.file = "labels.nrrd",
                   .curve = std::string(label_curve),
                   .volume = channel_voxels(of, id, "labels.nrrd"),
                   .labels = std::move(labels)};
}

inline double speckle(std::int64_t z, std::int64_t a, std::int64_t b) {
    return 40 * noise(z / 3, a / 3, b / 3);
}

inline double other_speckle(std::int64_t z, std::int64_t a, std::int64_t b) {
    return 40 * noise(a / 4 + 7, b / 4, z / 5);
}

}  // namespace echolux::test
