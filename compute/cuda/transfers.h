// Transfers of a block on a worker's stream: spectra to the GPU; alignment reports and voxels to host memory, the
// renderer or other GPUs.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "compute/backend.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/target.h"
#include "compute/repeat_report.h"
#include "compute/types.h"
#include "compute/voxel_target.h"

namespace echolux::cuda {

// ---- Provides raw spectra to kernels, on a worker's stream. Pinned memory is copied concurrently with other streams,
// or read in place over the link. Pageable memory passes through a pinned buffer. GPU memory is used in place. Kernels
// need contiguous B-scans, so blocks with gaps are always copied; the copy skips the gaps at no extra cost.

// Input buffers of one worker.
class BlockInput {
  public:
    // For blocks of up to `max_frames` acquired B-scans of `frame_bytes` each. Allocates the buffers of pinned blocks
    // here, and those of other blocks on first use. Throws Error{out_of_memory}.
    BlockInput(SpectraPath path, std::int64_t frame_bytes, std::int64_t max_frames);

    // Returns the first `frames` acquired B-scans of the block, contiguous. `path` selects how pinned blocks are
    // accessed. Previous work of the stream must be complete, and the block's memory is in use until the stream's work
    // is complete. Throws Error{bad_setting, out_of_memory, device}.
    const std::byte* bring(cudaStream_t stream, const Block& block, std::int64_t frames, SpectraPath path);

  private:
    const std::byte* staged(const std::byte* first, std::int64_t stride, std::int64_t frames);
    const std::byte* copied(cudaStream_t stream, const std::byte* first, std::int64_t stride, std::int64_t frames);

    std::int64_t frame_bytes_;
    std::int64_t max_frames_;
    DeviceBuffer on_device_;
    PinnedBuffer staging_;  // for pageable memory
};

// ---- Transfers the alignment reports of a block from the GPU to the caller's memory.

// Reports of one worker's current block.
class RepeatOutput {
  public:
    explicit RepeatOutput(std::int64_t b_repeats) : b_repeats_(b_repeats) {}

    // Returns the GPU memory for the reports of all repeats of `count` B-scan positions starting at `first`, or null if
    // not requested. Previous work of the stream must be complete.
    RepeatReport* begin(cudaStream_t stream, const std::optional<RepeatReports>& wanted, std::int64_t first,
                        std::int64_t count);

    // Enqueues the copy to the host. Call after enqueuing the kernels that write the reports.
    void copy_out(cudaStream_t stream);

    // Copies to the caller's memory. The stream's work must be complete.
    void finish();

    // Discards the reports.
    void drop() { to_ = nullptr; }

  private:
    std::int64_t b_repeats_;
    std::int64_t bytes_ = 0;
    RepeatReport* to_ = nullptr;
    DeviceBuffer on_device_;
    PinnedBuffer staging_;
};

// ---- Transfers packed voxels between GPUs, directly or through pinned memory if they have no peer access. Voxels are
// first copied to our landing buffer, from which the other GPU writes them to their target, because a GPU accesses
// Vulkan's exported memory at full speed only on its own device. (Copying 18 MB directly into an imported texture took
// 7 ms or more between two H100, against 0.05 ms for plain arrays.) Everything is enqueued on the stream that computed
// the voxels or ordered with it by events. The host only waits when the landing buffer must grow.

// Consecutive slices of a volume.
struct PeerTarget {
    int device = 0;
    cudaArray_t array = nullptr;   // null: contiguous linear memory
    std::byte* linear = nullptr;   // first slice
    std::int64_t first_slice = 0;  // in the array
};

// Contiguous slices of voxels.
struct PackedSlices {
    const std::byte* data = nullptr;  // on the current device
    std::int64_t depth = 0;           // voxels
    std::int64_t line_bytes = 0;
    std::int64_t a_scans = 0;
    std::int64_t count = 0;

    std::int64_t bytes() const { return count * a_scans * line_bytes; }
};

// Enables direct copies from the current device to `other`. Returns false if there is no peer access. Throws
// Error{device}.
bool allow_peer_copies(int other);

// Transfers from one worker. Used by one thread.
class PeerCopy {
  public:
    explicit PeerCopy(PeerPath path) : path_(path) {}

    // Enqueues a transfer after previous and before later work of `stream`. Allocates the landing buffer when it must
    // grow. Throws Error{device, out_of_memory}.
    void enqueue(cudaStream_t stream, const PackedSlices& from, const PeerTarget& to);

    // Returns "copied from GPU to GPU" or similar; empty before the first transfer.
    const char* transfer_path() const;

    std::int64_t bytes() const { return bytes_; }  // total

  private:
    struct Landing {  // buffer on a device or on the host, and that device's stream
        int device = 0;
        DeviceBuffer memory;
        PinnedBuffer host;
        Stream stream;
        Event arrived;

        std::byte* data() const { return memory.bytes() > 0 ? memory.data() : host.data(); }
        std::int64_t bytes() const { return std::max(memory.bytes(), host.bytes()); }
    };

    void find_transfer_path(int device);
    Landing& landing_on(int device, std::int64_t bytes, cudaStream_t stream);
    static void put_in_place(const Landing& landing, const PackedSlices& from, const PeerTarget& to);

    PeerPath path_;
    std::int64_t bytes_ = 0;
    std::optional<int> known_;  // device whose access has been checked
    bool is_straight_ = false;
    std::optional<Event> left_;  // on the source device
    std::optional<Landing> landing_;
};

// ---- Pointed to by `VoxelTarget::data` of a device_surface: a texture or packed buffer owned by the renderer, and its
// synchronization. Created by share(). Runners only read it, on the thread that also opens and publishes the slot.
//
// Before writing, a runner makes its stream wait for `opened`. After its last write it makes `publishing` wait for its
// own event. publish() then signals the renderer on `publishing` alone.

// Non-owning description of an imported texture or buffer.
struct CudaSlot {
    int device = 0;                   // owner of the memory; other devices copy to it
    cudaArray_t array = nullptr;      // array of the surface
    cudaSurfaceObject_t surface = 0;  // 0 for a buffer
    std::byte* buffer = nullptr;      // device memory, contiguous [b_scans][a_scans][depth]; null for a surface
    cudaStream_t publishing = nullptr;
    cudaEvent_t opened = nullptr;  // recorded by begin()
    VoxelType type = VoxelType::u8;
    std::int64_t depth = 0;
    std::int64_t a_scans = 0;
    std::int64_t b_scans = 0;
};

// ---- Delivers the voxels of a block on a worker's stream: directly to device memory or a slot of the renderer, or
// through our own buffer to host memory and other GPUs.

// Output of one worker for one volume: structure, flow or peaks.
class VoxelOutput {
  public:
    // For volumes of `grid`, up to `max_slices` slices at a time. Buffers are allocated for the first target that needs
    // them.
    VoxelOutput(const VolumeGrid& grid, std::int64_t max_slices, PeerPath peers = PeerPath::automatic);

    // Returns where subsequently enqueued work may write slices [first, first + count) of the volume. Previous work of
    // the stream must be complete. Throws Error{bad_setting} if the place is inconsistent or does not contain the
    // slices, and Error{out_of_memory}.
    DeviceTarget begin(cudaStream_t stream, const VoxelTarget& voxel_target, std::int64_t first, std::int64_t count);

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
    const char* peer_transfer_path() const { return peer_copy_.transfer_path(); }
    std::int64_t peer_bytes() const { return peer_copy_.bytes(); }

  private:
    DeviceTarget packed(std::byte* data) const;
    DeviceTarget device_memory(const VoxelTarget& voxel_target, std::int64_t first);
    DeviceTarget slot(cudaStream_t stream, const VoxelTarget& voxel_target, std::int64_t first, std::int64_t count);
    bool is_elsewhere(int device) const;
    DeviceTarget packed_for_peer(const PeerTarget& target);
    void copy_rows(cudaStream_t stream) const;

    VolumeGrid grid_;
    std::int64_t line_bytes_;
    std::int64_t slice_bytes_;  // contiguous
    std::int64_t max_slices_;
    PeerPath peers_;
    PeerCopy peer_copy_;
    VoxelTarget place_;               // target of the work in progress
    std::byte* to_ = nullptr;         // first slice in host memory
    std::optional<PeerTarget> peer_;  // if the voxels go to another GPU
    std::int64_t count_ = 0;          // slices
    bool staged_ = false;             // through pinned memory
    DeviceBuffer on_device_;
    PinnedBuffer staging_;
};

}  // namespace echolux::cuda
