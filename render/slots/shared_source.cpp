// Slots that another API on the same GPU writes: the textures themselves, or buffers that are copied into them there.
#include <algorithm>

#include "render/slots/slot_source.h"
#include "render/vk/memory.h"

namespace echolux {
namespace {

ExportedImage exported_facts(const gpu::Device& device, const VolumeGrid& grid, std::int64_t memory_bytes) {
    return {.device = device.id(),
            .bytes = memory_bytes,
            .type = grid.type,
            .depth = grid.depth,
            .a_scans = grid.a_scans,
            .b_scans = grid.b_scans};
}

// Hands everything over; `share` owns the handles whatever happens.
std::unique_ptr<SharedSlots> shared(const gpu::Device& device, std::vector<ExportedSlot> facts,
                                    std::vector<gpu::Handle> handles, const SlotTimelines& timelines,
                                    const Sharer& share) {
    gpu::Handle written = timelines.written.exported();
    gpu::Handle read = timelines.read.exported();
    for (std::size_t i = 0; i < facts.size(); ++i) facts[i].structure.handle = handles[i].release();
    return share(facts, {written.release(), device.id()}, {read.release(), device.id()});
}

class SharedSource : public SlotSource {
  public:
    Places places(std::size_t slot) const override { return slots_->places(slot); }
    void begin(std::size_t slot, std::uint64_t value) override { slots_->begin(slot, value); }
    void publish(std::size_t slot, std::uint64_t value, std::int64_t, std::int64_t) override {
        slots_->publish(slot, value);
    }

  protected:
    std::unique_ptr<SharedSlots> slots_;
};

class SurfaceSource : public SharedSource {
  public:
    SurfaceSource(const gpu::Device& device, gpu::Queue& queue, const Textures& textures,
                  const SlotTimelines& timelines, const Sharer& share)
        : textures_(textures) {
        std::vector<ExportedSlot> facts;
        std::vector<gpu::Handle> handles;
        for (const auto& texture : textures) {
            facts.push_back({exported_facts(device, texture->grid(), texture->image().memory_bytes()), {}});
            handles.push_back(texture->image().exported());
        }
        queue.run([&](const vk::raii::CommandBuffer& commands) {
            for (const auto& texture : textures) texture->image().record_release(commands);
        });
        slots_ = shared(device, std::move(facts), std::move(handles), timelines, share);
    }

    // Vulkan knows ownership of whole images only. Rolling publishing is looser than that: while a picture owns the
    // image for the slices that are filled, the other API goes on writing those above, which no picture reads. The
    // specification does not promise that these writes are kept; where textures have the same layout for both APIs,
    // as this one general layout has, acquire and release move no voxels and they are. Whole publishing needs none of
    // it.
    void record_fetch(const vk::raii::CommandBuffer& commands, std::size_t slot, std::int64_t,
                      std::int64_t) const override {
        textures_[slot]->image().record_acquire(commands);
    }
    void record_return(const vk::raii::CommandBuffer& commands, std::size_t slot) const override {
        textures_[slot]->image().record_release(commands);
    }

  private:
    const Textures& textures_;
};

class BufferSource : public SharedSource {
  public:
    BufferSource(const gpu::Device& device, gpu::Queue& queue, const Textures& textures, const SlotTimelines& timelines,
                 const Sharer& share)
        : textures_(textures) {
        std::vector<ExportedSlot> facts;
        std::vector<gpu::Handle> handles;
        for (const auto& texture : textures) {
            const VolumeGrid& grid = texture->grid();
            buffers_.push_back(std::make_unique<gpu::ExportedBuffer>(device, static_cast<std::size_t>(grid.bytes())));
            facts.push_back({exported_facts(device, grid, buffers_.back()->memory_bytes()), {}});
            facts.back().structure.linear = true;
            handles.push_back(buffers_.back()->exported());
        }
        queue.run([&](const vk::raii::CommandBuffer& commands) {
            for (const auto& buffer : buffers_) buffer->record_release(commands);
        });
        slots_ = shared(device, std::move(facts), std::move(handles), timelines, share);
    }
    // The imports end before the buffers do.
    ~BufferSource() override { slots_.reset(); }

    void record_fetch(const vk::raii::CommandBuffer& commands, std::size_t slot, std::int64_t first,
                      std::int64_t end) const override {
        buffers_[slot]->record_acquire(commands);
        if (first < end) textures_[slot]->record_slices_from(commands, buffers_[slot]->handle(), first, end);
    }
    void record_return(const vk::raii::CommandBuffer& commands, std::size_t slot) const override {
        buffers_[slot]->record_release(commands);
    }

  private:
    const Textures& textures_;
    std::vector<std::unique_ptr<gpu::ExportedBuffer>> buffers_;
};

}  // namespace

std::unique_ptr<SlotSource> surface_source(const gpu::Device& device, gpu::Queue& queue, const Textures& textures,
                                           const SlotTimelines& timelines, const Sharer& share) {
    return std::make_unique<SurfaceSource>(device, queue, textures, timelines, share);
}

std::unique_ptr<SlotSource> buffer_source(const gpu::Device& device, gpu::Queue& queue, const Textures& textures,
                                          const SlotTimelines& timelines, const Sharer& share) {
    return std::make_unique<BufferSource>(device, queue, textures, timelines, share);
}

}  // namespace echolux
