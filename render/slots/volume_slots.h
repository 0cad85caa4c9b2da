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

#include "compute/sharing.h"
#include "compute/voxel_target.h"
#include "render/bricks.h"
#include "render/slots/live_slots.h"
#include "render/slots/volume_texture.h"
#include "render/vk/memory.h"
#include "render/vk/queue.h"

namespace echolux {

// ---- A texture of a live ring and the memory that its writer fills: the texture itself, written by another API on the
// same GPU; a shared buffer, copied to the texture on the device; or host memory, uploaded by pictures.

// An exported image. Owns the handle until the receiver takes it.
struct ExportedHandle {
    ExportedImage facts;
    gpu::Handle handle;

    // Passes ownership of the handle to the caller.
    ExportedImage take() {
        facts.handle = handle.release();
        return facts;
    }
};

class SlotTexture {
  public:
    // Throws Error{device} if the device cannot export such memory, Error{bad_setting, out_of_memory}.
    SlotTexture(const gpu::Device& device, const VolumeGrid& grid, const ValueRange& range, SlotKind kind);

    const VolumeTexture& texture() const { return texture_; }

    std::int64_t bytes() const;  // total of device and host memory

    void set_range(const ValueRange& range) { texture_.set_range(range, range); }

    // Returns the shared texture or buffer for another API. Not for uploads.
    ExportedHandle exported(const gpu::Device& device) const;

    // Host memory for the voxels. Only for uploads. store() follows the writing of slices [first, end) and converts
    // them to the texture's format.
    VoxelTarget target() const;
    void store(std::int64_t first, std::int64_t end) const;

    // Recorded once, before any other use.
    void record_first_use(const vk::raii::CommandBuffer& commands) const;

    // record_fetch() comes before the texture is read and copies the new slices [first, end), record_return() comes
    // after the reads.
    void record_fetch(const vk::raii::CommandBuffer& commands, std::int64_t first, std::int64_t end) const;
    void record_return(const vk::raii::CommandBuffer& commands) const;

  private:
    SlotKind kind_;
    VolumeTexture texture_;
    std::optional<gpu::ExportedBuffer> buffer_;  // SlotKind::buffer only
    std::optional<gpu::HostBuffer> staging_;     // SlotKind::upload only, in the texture's format
    std::unique_ptr<std::byte[]> codes_;         // 8-bit codes, for a texture of 16 bits
};

// ---- Peaks of a slot's voxels (VoxelTargets::peaks): maxima of a few successive voxels along depth, stored by the
// writer of the voxels. Bricks are computed from them, so no picture reads a whole volume to find empty regions.
//
// The peaks are always in a device buffer, written by another API or filled from host memory, because shaders never
// read host memory.

class SlotPeaks {
  public:
    // Peaks for a slot's voxels. `bricks` must outlive this object. Throws Error{device} if the device cannot export
    // such memory, Error{out_of_memory}.
    SlotPeaks(const gpu::Device& device, const VolumeGrid& grid, const Bricks& bricks, SlotKind kind);

    // Returns the shared buffer for another API. Not for uploads.
    ExportedHandle exported(const gpu::Device& device) const;

    // Returns the host memory that the writer fills. Only for uploads.
    Peaks peaks() const;
    std::int64_t depths() const { return depths_; }
    // Size of device and host memory.
    std::int64_t bytes() const { return grid_.bytes() * (staging_ ? 2 : 1); }

    const BrickPeaks& for_bricks() const { return *for_bricks_; }

    // record_fetch() comes before the bricks are built from the new slices [first, end), record_return() after it.
    void record_fetch(const vk::raii::CommandBuffer& commands, std::int64_t first, std::int64_t end) const;
    void record_return(const vk::raii::CommandBuffer& commands) const;

  private:
    vk::Buffer buffer() const { return shared_ ? shared_->handle() : own_->handle(); }

    VolumeGrid grid_;  // of the peaks
    std::int64_t depths_;
    std::optional<gpu::ExportedBuffer> shared_;
    std::optional<gpu::HostBuffer> staging_;
    std::optional<gpu::DeviceBuffer> own_;
    std::optional<BrickPeaks> for_bricks_;
};

class VolumeSlots {
  public:
    // Allocates the slots, trying the kinds from wanted.first on. Throws Error{bad_setting, out_of_memory}.
    VolumeSlots(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder, const SlotRequest& wanted);
    ~VolumeSlots();  // waits for pictures in flight
    VolumeSlots(const VolumeSlots&) = delete;
    VolumeSlots& operator=(const VolumeSlots&) = delete;

    // The result is valid as long as this object.
    LiveSlots for_writing() const;

    // Signal a timeline from the host when the thread that should signal it no longer exists, so that no waits remain.
    // abandon_writing() first gives the writer some time to finish. abandon_reading() first waits for pictures in
    // flight as long as the device makes progress. Timeline values therefore only grow. Thread-safe.
    void abandon_writing(std::uint64_t value) noexcept;
    void abandon_reading(std::uint64_t value) noexcept;

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
    gpu::Chain chain(const DisplayedSlots& shown);

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

    std::unique_ptr<Slot> make_slot(SlotKind kind, const SlotRequest& wanted) const;
    Slots make_slots(SlotKind kind, const SlotRequest& wanted) const;
    std::unique_ptr<Memory> make_memory(SlotKind kind, const SlotRequest& wanted) const;
    std::unique_ptr<SlotWriter> share_with(const Memory& memory, const Sharer& share) const;
    std::int64_t fetched_to(const DisplayedSlot& shown) const;
    void record_bricks(const vk::raii::CommandBuffer& commands, std::size_t slot, const NewSlices& slices);
    void watch();

    const gpu::Device& device_;
    gpu::Queue& queue_;
    BrickBuilder& builder_;
    std::chrono::milliseconds timeout_;
    std::size_t wanted_;  // number of requested slots, without the extra ones
    SlotKind kind_ = SlotKind::upload;
    std::string remark_;
    std::unique_ptr<Memory> memory_;
    std::vector<DisplayedSlot> fetched_;      // content of each texture
    std::atomic<std::uint64_t> awaited_ = 0;  // last value of `written` that a picture waits for
    std::atomic<bool> deserted_ = false;      // the writer has failed
    std::array<std::uint64_t, 2> seen_{};     // values at the last watchdog call: awaited, written
    std::chrono::steady_clock::time_point seen_at_;
};

}  // namespace echolux
