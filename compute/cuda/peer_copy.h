// Voxels that one GPU has packed in its memory, on their way to another one: from GPU to GPU, or through pinned memory
// where the two have no access to each other. All of it is enqueued on the stream that made the voxels, or comes in
// turn with it by events; the host waits for nothing.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <optional>

#include "compute/cuda/memory.h"
#include "compute/peer_path.h"

namespace echolux::cuda {

// Slices of a volume that lie one after the other.
struct PeerTarget {
    int device = 0;
    cudaArray_t array = nullptr;   // null: linear memory without gaps
    std::byte* linear = nullptr;   // its first slice
    std::int64_t first_slice = 0;  // of the array
};

struct PackedSlices {
    const std::byte* data = nullptr;  // on the current device
    std::int64_t depth = 0;           // voxels
    std::int64_t line_bytes = 0;
    std::int64_t a_scans = 0;
    std::int64_t count = 0;

    std::int64_t bytes() const { return count * a_scans * line_bytes; }
};

// Whether copies from the current device to `other` go straight; they are allowed then. Throws Error{device}.
bool allow_peer_copies(int other);

class PeerCopy {
  public:
    explicit PeerCopy(PeerPath path) : path_(path) {}

    // Behind what is on `stream`, and before what comes on it later. Allocates pinned memory with the first detour of
    // as many bytes. Throws Error{device, out_of_memory}.
    void enqueue(cudaStream_t stream, const PackedSlices& from, const PeerTarget& to);

    // "copied from GPU to GPU"; "" before the first.
    const char* way() const;

    std::int64_t bytes() const { return bytes_; }  // so far

  private:
    struct Detour {  // to a device: the host's memory, and what the other device does
        int device = 0;
        PinnedBuffer host;
        Stream stream;
        Event arrived;
    };

    bool goes_straight(int device);
    void copy_straight(cudaStream_t stream, const PackedSlices& from, const PeerTarget& to) const;
    void copy_through_host(cudaStream_t stream, const PackedSlices& from, const PeerTarget& to);

    PeerPath path_;
    std::int64_t bytes_ = 0;
    std::optional<int> known_;  // device that was asked about
    bool is_straight_ = false;
    std::optional<Event> left_;  // on the device of the voxels
    std::optional<Detour> detour_;
};

}  // namespace echolux::cuda
