// The memory of a live ring: N textures of one grid, the timelines that order writing and reading, and the source that
// fills them. What is new in a slot is fetched and its bricks are built when the first picture wants it, in the same
// submission: nothing is done for volumes that nobody sees, and the host waits for nothing.
#pragma once

#include <array>
#include <atomic>
#include <chrono>

#include "render/slots/slot_source.h"

namespace echolux {

class VolumeSlots : public SlotWriter {
  public:
    // Tries the kinds from wanted.first on. Throws Error{bad_setting, out_of_memory}.
    VolumeSlots(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder, const SlotsWanted& wanted);
    ~VolumeSlots() override;  // waits for the pictures under way
    VolumeSlots(const VolumeSlots&) = delete;
    VolumeSlots& operator=(const VolumeSlots&) = delete;

    SlotKind kind() const override { return kind_; }
    const std::string& remark() const override { return remark_; }
    Places places(std::size_t slot) const override { return memory_->source->places(slot); }
    void begin(std::size_t slot, std::uint64_t value) override { memory_->source->begin(slot, value); }
    void publish(std::size_t slot, std::uint64_t value, std::int64_t first, std::int64_t end) override {
        memory_->source->publish(slot, value, first, end);
    }
    void give_up_writing(std::uint64_t value) noexcept override;
    void give_up_reading(std::uint64_t value) noexcept override;

    const VolumeTexture& texture(std::size_t slot) const { return memory_->textures[slot]->structure; }

    // At the moment of the volume; nothing: the ring has no flow.
    const VolumeTexture* flow(std::size_t slot) const {
        const auto& flow = memory_->textures[slot]->flow;
        return flow ? &*flow : nullptr;
    }

    // From now on the host's waits for the queue are watched here: for one ring at a time, the one that is shown.
    void watch_waits();

    // What a picture of `shown` stands in. Used by one thread, the one that draws; submitted in the order of the calls.
    // Throws Error{device} when who writes has not answered for too long.
    gpu::Chain chain(const ShownSlots& shown);

    // A chain was not submitted: its slots are fetched anew.
    void forget();

  private:
    struct Memory {  // in the order of their lives
        Memory(const gpu::Device& device, gpu::Sharing timelines_sharing) : timelines(device, timelines_sharing) {}

        Textures textures;
        SlotTimelines timelines;
        std::unique_ptr<SlotSource> source;
    };

    std::unique_ptr<Memory> made(SlotKind kind, const SlotsWanted& wanted) const;
    std::int64_t fetched_to(const ShownSlot& shown) const;
    void record_bricks(const vk::raii::CommandBuffer& commands, std::size_t slot, std::int64_t slices);
    void watch();

    const gpu::Device& device_;
    gpu::Queue& queue_;
    BrickBuilder& builder_;
    std::chrono::milliseconds patience_;
    SlotKind kind_ = SlotKind::upload;
    std::string remark_;
    std::unique_ptr<Memory> memory_;
    std::vector<ShownSlot> fetched_;  // what each texture holds
    std::atomic<std::uint64_t> awaited_ = 0;
    std::atomic<bool> deserted_ = false;
    std::array<std::uint64_t, 2> seen_{};  // by the watch: awaited, written
    std::chrono::steady_clock::time_point seen_at_;
};

}  // namespace echolux
