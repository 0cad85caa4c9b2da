// Where the voxels of a ring's slots come from: one class a kind. A source hands out places to write to and records how
// what was written gets into the slots' textures.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "render/slots/slot_writer.h"
#include "render/slots/volume_texture.h"
#include "render/vk/queue.h"

namespace echolux {

// Of one slot: the volume, and the flow at its moment where it is wanted.
struct SlotTextures {
    VolumeTexture structure;
    std::optional<VolumeTexture> flow;

    std::vector<const VolumeTexture*> all() const {
        return flow ? std::vector{&structure, &*flow} : std::vector{&structure};
    }
};
using Textures = std::vector<std::unique_ptr<SlotTextures>>;

// Something that is made for each texture of a slot.
template <class T>
struct ForEach {
    std::unique_ptr<T> structure, flow;  // no flow: the slot has none

    template <class Make>
    ForEach(const SlotTextures& textures, const Make& make)
        : structure(make(textures.structure)), flow(textures.flow ? make(*textures.flow) : nullptr) {}

    template <class Work>
    void each(const Work& work) const {
        work(*structure);
        if (flow) work(*flow);
    }
};

// `written` is signalled by who writes, `read` by pictures.
struct SlotTimelines {
    SlotTimelines(const gpu::Device& device, gpu::Sharing sharing) : written(device, sharing), read(device, sharing) {}

    gpu::Timeline written;
    gpu::Timeline read;
};

class SlotSource {
  public:
    virtual ~SlotSource() = default;

    // As SlotWriter says.
    virtual Places places(std::size_t slot) const = 0;
    virtual void begin(std::size_t slot, std::uint64_t value) = 0;
    virtual void publish(std::size_t slot, std::uint64_t value, std::int64_t first, std::int64_t end) = 0;

    // Before the textures are read: slices [first, end) are new to them.
    virtual void record_fetch(const vk::raii::CommandBuffer& commands, std::size_t slot, std::int64_t first,
                              std::int64_t end) const = 0;

    // After they were read.
    virtual void record_return(const vk::raii::CommandBuffer& commands, std::size_t slot) const = 0;
};

// The sources live shorter than what they are given. Throw Error{device} where the devices cannot do it.
std::unique_ptr<SlotSource> surface_source(const gpu::Device& device, gpu::Queue& queue, const Textures& textures,
                                           const SlotTimelines& timelines, const Sharer& share);
std::unique_ptr<SlotSource> buffer_source(const gpu::Device& device, gpu::Queue& queue, const Textures& textures,
                                          const SlotTimelines& timelines, const Sharer& share);
std::unique_ptr<SlotSource> upload_source(const gpu::Device& device, const Textures& textures,
                                          const SlotTimelines& timelines, std::chrono::milliseconds patience);

}  // namespace echolux
