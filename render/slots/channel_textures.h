// The volumes of a view's channels as textures: uploaded when a picture first wants them, kept as long as views hold
// them.
#pragma once

#include <map>
#include <memory>

#include "render/slots/volume_texture.h"
#include "render/view/view.h"
#include "render/vk/queue.h"

namespace echolux {

class ChannelTextures {
  public:
    ChannelTextures(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder)
        : device_(device), queue_(queue), builder_(builder) {}

    // Uploads what is new of the channels of a view, and lets go of what is in none any more. True: there are others
    // now. Throws Error{bad_setting} for voxels that cannot be shown, Error{out_of_memory}.
    bool bring_in(const Channels& channels);

    // Of a channel that was brought in.
    const VolumeTexture& of(const Channel& channel) const { return *textures_.at(channel.volume.get()).texture; }

  private:
    struct Kept {
        std::weak_ptr<const ChannelVoxels> voxels;
        std::unique_ptr<VolumeTexture> texture;
        bool are_labels;  // and have been looked at
    };
    std::unique_ptr<VolumeTexture> uploaded(const Channel& channel) const;

    const gpu::Device& device_;
    gpu::Queue& queue_;
    BrickBuilder& builder_;
    std::map<const ChannelVoxels*, Kept> textures_;
};

}  // namespace echolux
