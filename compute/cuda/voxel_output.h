// Where a block's voxels go, on a worker's stream: straight to device memory or to a slot of the renderer, or by way of
// a buffer of our own to host memory and to other GPUs.
#pragma once

#include "compute/cuda/memory.h"
#include "compute/cuda/peer_copy.h"
#include "compute/cuda/target.h"
#include "compute/place.h"

namespace echolux::cuda {

class VoxelOutput {
  public:
    // Volumes of `grid`, at most `max_slices` at a time; buffers come with the first place that needs them.
    VoxelOutput(const VolumeGrid& grid, std::int64_t max_slices, PeerPath peers = PeerPath::automatic);

    // The stream's former work is done. What is enqueued after this may write slices [first, first + count) of the
    // volume. Throws Error{bad_setting} for a place that is not what it says, or that does not hold them;
    // Error{out_of_memory}.
    DeviceTarget begin(cudaStream_t stream, const Place& place, std::int64_t first, std::int64_t count);

    // What a kernel finds besides goes where `begin` of another output said, which was for as many slices.
    static void add_peaks(DeviceTarget& target, const DeviceTarget& peaks, std::int64_t depths);

    // Everything that writes them has been enqueued, and `done` recorded after it, or will be by the caller where this
    // enqueues a copy: call it first, then record.
    void copy_out(cudaStream_t stream);

    // After `done` has been recorded: the renderer's stream waits for it.
    void hand_over(cudaEvent_t done);

    // There will be nothing to finish.
    void drop() { to_ = nullptr; }

    // The stream's work is done: what the host still has to copy.
    void finish();

    // How voxels got to another GPU; "" where none did.
    const char* peer_way() const { return peer_copy_.way(); }
    std::int64_t peer_bytes() const { return peer_copy_.bytes(); }

  private:
    DeviceTarget packed(std::byte* data) const;
    DeviceTarget device_memory(const Place& place, std::int64_t first);
    DeviceTarget slot(cudaStream_t stream, const Place& place, std::int64_t first, std::int64_t count);
    bool is_elsewhere(int device) const;
    DeviceTarget packed_for_peer(const PeerTarget& target);
    void copy_rows(cudaStream_t stream) const;

    VolumeGrid grid_;
    std::int64_t line_bytes_;
    std::int64_t slice_bytes_;  // packed
    std::int64_t max_slices_;
    PeerPath peers_;
    PeerCopy peer_copy_;
    Place place_;                     // of the work under way
    std::byte* to_ = nullptr;         // its first slice, in host memory
    std::optional<PeerTarget> peer_;  // where it goes to another GPU
    std::int64_t count_ = 0;          // slices
    bool staged_ = false;             // by way of pinned memory
    DeviceBuffer on_device_;
    PinnedBuffer staging_;
};

}  // namespace echolux::cuda
