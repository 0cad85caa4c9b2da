// The memory of a live ring: N textures of one grid, the timelines that order writing and reading, and who writes. What
// is new in a slot is fetched and its bricks are built when the first picture wants it, in the same submission: nothing
// is done for volumes that nobody sees, and the host waits for nothing.
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
    // Tries the kinds from wanted.first on. Throws Error{bad_setting, out_of_memory}.
    VolumeSlots(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder, const SlotsWanted& wanted);
    ~VolumeSlots();  // waits for the pictures under way
    VolumeSlots(const VolumeSlots&) = delete;
    VolumeSlots& operator=(const VolumeSlots&) = delete;

    // Valid as long as the slots live.
    LiveSlots for_writing() const;

    // Signal a timeline from the host, where those who should have are gone: nobody waits for them in vain. Who writes
    // is given some time to finish, and then counts as gone; pictures under way are waited for first, as long as the
    // device finishes any. So values only grow. From any thread.
    void give_up_writing(std::uint64_t value) noexcept;
    void give_up_reading(std::uint64_t value) noexcept;

    const VolumeTexture& texture(std::size_t slot) const { return memory_->slots[slot]->structure.texture(); }

    // At the moment of the volume; nothing: the ring has no flow.
    const VolumeTexture* flow(std::size_t slot) const {
        const auto& flow = memory_->slots[slot]->flow;
        return flow ? &flow->texture() : nullptr;
    }

    // Which speeds the colours of flow reach, for all slots.
    void set_flow_range(const ValueRange& range) {
        for (const auto& slot : memory_->slots) {
            if (slot->flow) slot->flow->set_range(range);
        }
    }

    // From now on the host's waits for the queue are watched here: for one ring at a time, the one that is shown.
    void watch_waits();

    // What a picture of `shown` stands in. Used by one thread, the one that draws; submitted in the order of the calls.
    // Throws Error{device} when who writes has not answered for too long.
    gpu::Chain chain(const ShownSlots& shown);

    // A chain was not submitted: its slots are fetched anew.
    void forget();

  private:
    // One time point: the volume, and the flow at its moment where it is wanted.
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

    // `written` is signalled by who writes, `read` by pictures.
    struct Timelines {
        gpu::Timeline written;
        gpu::Timeline read;
    };

    struct Memory {  // in the order of their lives
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
    std::size_t wanted_;  // slots, without those that keep volumes
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
