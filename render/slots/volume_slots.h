// The memory of a live ring: N textures of one grid, the timelines that order writes and reads, and the writer.
//
// The first picture of a new slot fetches it and builds its bricks in the same submission. Volumes that are never shown
// cost nothing, and the host does not wait.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "render/slots/live_slots.h"
#include "render/slots/slot_peaks.h"
#include "render/slots/slot_texture.h"
#include "render/vk/queue.h"

namespace echolux {

class VolumeSlots {
  public:
    // Allocates the slots, trying the kinds from wanted.first on. Throws Error{bad_setting, out_of_memory}.
    VolumeSlots(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder, const SlotsWanted& wanted);
    ~VolumeSlots();  // waits for pictures under way
    VolumeSlots(const VolumeSlots&) = delete;
    VolumeSlots& operator=(const VolumeSlots&) = delete;

    // The result is valid as long as this object.
    LiveSlots for_writing() const;

    // Signal a timeline from the host after its signaller has gone, so that no one waits forever. give_up_writing()
    // first gives the writer some time to finish. give_up_reading() first waits for pictures under way as long as the
    // device makes progress. Timeline values therefore only grow. Thread-safe.
    void give_up_writing(std::uint64_t value) noexcept;
    void give_up_reading(std::uint64_t value) noexcept;

    const VolumeTexture& texture(std::size_t slot) const { return memory_->slots[slot]->structure.texture(); }

    // Returns the flow at the time of the volume; null if the ring has no flow.
    const VolumeTexture* flow(std::size_t slot) const {
        const auto& flow = memory_->slots[slot]->flow;
        return flow ? &flow->texture() : nullptr;
    }

    // Sets the range of the flow colours for all slots.
    void set_flow_range(const ValueRange& range) {
        for (const auto& slot : memory_->slots) {
            if (slot->flow) slot->flow->set_range(range);
        }
    }

    // Registers the watchdog for the queue's waits. Only one ring, the displayed one, can be watched at a time.
    void watch_waits();

    // Returns the work around a picture of `shown`. Called by the drawing thread only; pictures must be submitted in
    // the order of the calls. Throws Error{device} if the writer has stopped responding.
    gpu::Chain chain(const ShownSlots& shown);

    // A chain was not submitted: its slots must be fetched again.
    void forget();

  private:
    // One time point: the volume and, if requested, its flow.
    struct Slot {
        SlotTexture structure;
        std::optional<SlotTexture> flow;
        std::optional<SlotPeaks> peaks;  // of the structure

        template <class Work>
        void each(const Work& work) const {
            work(structure);
            if (flow) work(*flow);
        }
        std::int64_t bytes() const {
            return structure.bytes() + (flow ? flow->bytes() : 0) + (peaks ? peaks->bytes() : 0);
        }
    };
    using Slots = std::vector<std::unique_ptr<Slot>>;

    // The writer signals `written`, pictures signal `read`.
    struct Timelines {
        gpu::Timeline written;
        gpu::Timeline read;
    };

    struct Memory {  // destroyed in reverse order
        Slots slots;
        Timelines timelines;
        std::unique_ptr<SlotWriter> writer;
    };

    class HostWriter;

    std::unique_ptr<Slot> make_slot(SlotKind kind, const SlotsWanted& wanted) const;
    Slots make_slots(SlotKind kind, const SlotsWanted& wanted) const;
    std::unique_ptr<Memory> make_memory(SlotKind kind, const SlotsWanted& wanted) const;
    std::unique_ptr<SlotWriter> share_with(const Memory& memory, const Sharer& share) const;
    std::int64_t fetched_to(const ShownSlot& shown) const;
    void record_bricks(const vk::raii::CommandBuffer& commands, std::size_t slot, const NewSlices& slices);
    void watch();

    const gpu::Device& device_;
    gpu::Queue& queue_;
    BrickBuilder& builder_;
    std::chrono::milliseconds patience_;
    std::size_t wanted_;  // number of requested slots, without the extra ones
    SlotKind kind_ = SlotKind::upload;
    std::string remark_;
    std::unique_ptr<Memory> memory_;
    std::vector<ShownSlot> fetched_;          // content of each texture
    std::atomic<std::uint64_t> awaited_ = 0;  // last value of `written` that a picture waits for
    std::atomic<bool> deserted_ = false;      // the writer has failed
    std::array<std::uint64_t, 2> seen_{};     // values at the last watchdog call: awaited, written
    std::chrono::steady_clock::time_point seen_at_;
};

}  // namespace echolux
