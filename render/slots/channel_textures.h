// Textures of a view's channels. A channel's volume is uploaded for the first picture that shows it and released once
// no view holds it.
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

    // Uploads new visible channels of a view and releases those that no view holds any longer. Waits for pictures under
    // way before it releases any. Returns true if the set of textures changed. Throws Error{bad_setting} for voxels
    // that cannot be shown, Error{out_of_memory}.
    bool bring_in(const Channels& channels);

    // Returns the texture of a channel that bring_in() has uploaded.
    const VolumeTexture& of(const Channel& channel) const { return *textures_.at(channel.volume.get()).texture; }

  private:
    struct Kept {
        std::weak_ptr<const ChannelVoxels> voxels;
        std::unique_ptr<VolumeTexture> texture;
        bool are_labels;  // the voxels have been checked as labels
    };
    std::unique_ptr<VolumeTexture> uploaded(const Channel& channel) const;

    const gpu::Device& device_;
    gpu::Queue& queue_;
    BrickBuilder& builder_;
    std::map<const ChannelVoxels*, Kept> textures_;
};

}  // namespace echolux
