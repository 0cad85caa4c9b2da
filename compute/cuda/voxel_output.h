// Delivers the voxels of a block on a worker's stream: directly to device memory or a slot of the renderer, or through
// our own buffer to host memory and other GPUs.
#pragma once

#include "compute/cuda/memory.h"
#include "compute/cuda/peer_copy.h"
#include "compute/cuda/target.h"
#include "compute/place.h"

namespace echolux::cuda {

// Output of one worker for one volume: structure, flow or peaks.
class VoxelOutput {
  public:
    // For volumes of `grid`, up to `max_slices` slices at a time. Buffers are allocated for the first target that needs
    // them.
    VoxelOutput(const VolumeGrid& grid, std::int64_t max_slices, PeerPath peers = PeerPath::automatic);

    // Returns where subsequently enqueued work may write slices [first, first + count) of the volume. Previous work of
    // the stream must be complete. Throws Error{bad_setting} if the place is inconsistent or does not contain the
    // slices, and Error{out_of_memory}.
    DeviceTarget begin(cudaStream_t stream, const Place& place, std::int64_t first, std::int64_t count);

    // Directs the peaks of a kernel to the target returned by `begin` of another output for the same slices.
    static void add_peaks(DeviceTarget& target, const DeviceTarget& peaks, std::int64_t depths);

    // Enqueues copies to the final target, if any. Call after enqueuing the kernels and before recording `done`.
    void copy_out(cudaStream_t stream);

    // Makes the renderer's stream wait for `done`, which must have been recorded.
    void hand_over(cudaEvent_t done);

    // Discards the output.
    void drop() { to_ = nullptr; }

    // Completes copies on the host. The stream's work must be complete.
    void finish();

    // Returns the path of voxels to another GPU; empty if there was none.
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
    std::int64_t slice_bytes_;  // contiguous
    std::int64_t max_slices_;
    PeerPath peers_;
    PeerCopy peer_copy_;
    Place place_;                     // target of the work in progress
    std::byte* to_ = nullptr;         // first slice in host memory
    std::optional<PeerTarget> peer_;  // if the voxels go to another GPU
    std::int64_t count_ = 0;          // slices
    bool staged_ = false;             // through pinned memory
    DeviceBuffer on_device_;
    PinnedBuffer staging_;
};

}  // namespace echolux::cuda
