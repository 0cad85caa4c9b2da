// Slots that another API on the same GPU writes: the textures themselves, or buffers that are copied into them there.
#include <algorithm>

#include "render/slots/slot_source.h"
#include "render/vk/memory.h"

namespace echolux {
namespace {

// What is handed over of one texture. The handle travels beside the facts until somebody takes it.
struct Exported {
    ExportedImage facts;
    gpu::Handle handle;

    Exported(const gpu::Device& device, const VolumeGrid& grid, std::int64_t memory_bytes, bool linear,
             gpu::Handle memory)
        : facts{.device = device.id(),
                .bytes = memory_bytes,
                .type = grid.type,
                .depth = grid.depth,
                .a_scans = grid.a_scans,
                .b_scans = grid.b_scans,
                .linear = linear},
          handle(std::move(memory)) {}

    ExportedImage released() {
        facts.handle = handle.release();
        return facts;
    }
};

// `share` owns the handles whatever happens.
std::unique_ptr<SharedSlots> shared(const gpu::Device& device, std::vector<ForEach<Exported>> slots,
                                    const SlotTimelines& timelines, const Sharer& share) {
    gpu::Handle written = timelines.written.exported();
    gpu::Handle read = timelines.read.exported();
    std::vector<ExportedSlot> facts(slots.size());
    for (std::size_t i = 0; i < facts.size(); ++i) {
        facts[i].structure = slots[i].structure->released();
        if (slots[i].flow) facts[i].flow = slots[i].flow->released();
    }
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
        std::vector<ForEach<Exported>> exports;
        for (const auto& slot : textures) {
            exports.emplace_back(*slot, [&](const VolumeTexture& texture) {
                const gpu::DeviceImage& image = texture.image();
                return std::make_unique<Exported>(device, texture.grid(), image.memory_bytes(), false,
                                                  image.exported());
            });
        }
        queue.run([&](const vk::raii::CommandBuffer& commands) {
            for (std::size_t slot = 0; slot < textures.size(); ++slot) record_return(commands, slot);
        });
        slots_ = shared(device, std::move(exports), timelines, share);
    }

    // Vulkan knows ownership of whole images only. Rolling publishing is looser than that: while a picture owns the
    // image for the slices that are filled, the other API goes on writing those above, which no picture reads. The
    // specification does not promise that these writes are kept; where textures have the same layout for both APIs,
    // as this one general layout has, acquire and release move no voxels and they are. Whole publishing needs none of
    // it.
    void record_fetch(const vk::raii::CommandBuffer& commands, std::size_t slot, std::int64_t,
                      std::int64_t) const override {
        for (const VolumeTexture* texture : textures_[slot]->all()) texture->image().record_acquire(commands);
    }
    void record_return(const vk::raii::CommandBuffer& commands, std::size_t slot) const override {
        for (const VolumeTexture* texture : textures_[slot]->all()) texture->image().record_release(commands);
    }

  private:
    const Textures& textures_;
};

// A buffer beside a texture.
struct BufferOf {
    BufferOf(const gpu::Device& device, const VolumeTexture& target)
        : texture(target), buffer(device, static_cast<std::size_t>(target.grid().bytes())) {}

    const VolumeTexture& texture;
    gpu::ExportedBuffer buffer;
};

class BufferSource : public SharedSource {
  public:
    BufferSource(const gpu::Device& device, gpu::Queue& queue, const Textures& textures, const SlotTimelines& timelines,
                 const Sharer& share) {
        std::vector<ForEach<Exported>> exports;
        for (const auto& slot : textures) {
            buffers_.emplace_back(
                *slot, [&](const VolumeTexture& texture) { return std::make_unique<BufferOf>(device, texture); });
            exports.emplace_back(*slot, [&](const VolumeTexture& texture) {
                const auto& [structure, flow] = buffers_.back();
                const gpu::ExportedBuffer& buffer = (&texture == &slot->structure ? structure : flow)->buffer;
                return std::make_unique<Exported>(device, texture.grid(), buffer.memory_bytes(), true,
                                                  buffer.exported());
            });
        }
        queue.run([&](const vk::raii::CommandBuffer& commands) {
            for (std::size_t slot = 0; slot < buffers_.size(); ++slot) record_return(commands, slot);
        });
        slots_ = shared(device, std::move(exports), timelines, share);
    }
    // The imports end before the buffers do.
    ~BufferSource() override { slots_.reset(); }

    void record_fetch(const vk::raii::CommandBuffer& commands, std::size_t slot, std::int64_t first,
                      std::int64_t end) const override {
        buffers_[slot].each([&](const BufferOf& part) {
            part.buffer.record_acquire(commands);
            if (first < end) part.texture.record_slices_from(commands, part.buffer.handle(), first, end);
        });
    }
    void record_return(const vk::raii::CommandBuffer& commands, std::size_t slot) const override {
        buffers_[slot].each([&](const BufferOf& part) { part.buffer.record_release(commands); });
    }

  private:
    std::vector<ForEach<BufferOf>> buffers_;  // of each slot
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
