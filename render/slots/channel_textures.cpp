#include "render/slots/channel_textures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/error.h"
#include "render/slots/upload.h"
#include "render/slots/voxel_codes.h"

namespace echolux {
namespace {

// Throws Error{bad_setting} unless all voxels are integers from 0 to max_label.
void check_labels(const Channel& channel) {
    const VolumeGrid& grid = channel.volume->grid;
    for (std::int64_t i = 0; i < grid.voxels(); ++i) {
        const double id = code_at(grid.type, channel.volume->voxels, i) * grid.scale + grid.offset;
        if (id >= 0 && id <= static_cast<double>(max_label) && id == std::floor(id)) continue;
        throw Error(ErrorCode::bad_setting, fmt::format("holds {:g}, which is not a label", id), channel.file,
                    fmt::format("labels are whole numbers from 0 to {}", max_label));
    }
}

}  // namespace

std::unique_ptr<VolumeTexture> ChannelTextures::uploaded(const Channel& channel) const {
    const VolumeGrid& grid = channel.volume->grid;
    check_structure(grid);
    const auto source = voxels_in_memory(grid, channel.volume->voxels);
    const ValueRange range = source->range();
    auto texture = std::make_unique<VolumeTexture>(device_, grid, range);
    texture->set_range(range, range);
    upload(device_, queue_, builder_, *texture, *source);
    return texture;
}

bool ChannelTextures::bring_in(const Channels& channels) {
    const auto is_gone = [](const auto& entry) { return entry.second.voxels.expired(); };
    bool has_changed = false;
    if (std::ranges::any_of(textures_, is_gone)) {
        queue_.wait_for_all();  // pictures under way may still read them
        std::erase_if(textures_, is_gone);
        has_changed = true;
    }
    for (const Channel& channel : channels.channels) {
        if (!channel.is_seen()) continue;
        const auto found = textures_.find(channel.volume.get());
        const bool is_there = found != textures_.end();
        if (channel.labels && !(is_there && found->second.are_labels)) check_labels(channel);
        if (is_there) {
            found->second.are_labels |= channel.labels.has_value();
            continue;
        }
        textures_.emplace(channel.volume.get(), Kept{channel.volume, uploaded(channel), channel.labels.has_value()});
        has_changed = true;
    }
    return has_changed;
}

}  // namespace echolux
