// Voxels that one GPU has packed in its memory, on their way to another one: from GPU to GPU, or through pinned memory
// where the two have no access to each other. They land in memory of our own, from where the other GPU puts them into
// their place: what Vulkan has exported a GPU reaches at its full rate on its own device only. (Straight into an
// imported texture, 18 MB took 7 ms and more between two H100, where plain arrays take 0.05 ms.) All of it is enqueued
// on the stream that made the voxels, or comes in turn with it by events; the host waits only where
// they need more room to land than before.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
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

    // Behind what is on `stream`, and before what comes on it later. Allocates where they land with the first of as
    // many bytes. Throws Error{device, out_of_memory}.
    void enqueue(cudaStream_t stream, const PackedSlices& from, const PeerTarget& to);

    // "copied from GPU to GPU"; "" before the first.
    const char* way() const;

    std::int64_t bytes() const { return bytes_; }  // so far

  private:
    struct Landing {  // for a device: memory there, or the host's, and what that device does
        int device = 0;
        DeviceBuffer memory;
        PinnedBuffer host;
        Stream stream;
        Event arrived;

        std::byte* data() const { return memory.bytes() > 0 ? memory.data() : host.data(); }
        std::int64_t bytes() const { return std::max(memory.bytes(), host.bytes()); }
    };

    void find_way(int device);
    Landing& landing_on(int device, std::int64_t bytes, cudaStream_t stream);
    static void put_in_place(const Landing& landing, const PackedSlices& from, const PeerTarget& to);

    PeerPath path_;
    std::int64_t bytes_ = 0;
    std::optional<int> known_;  // device that was asked about
    bool is_straight_ = false;
    std::optional<Event> left_;  // on the device of the voxels
    std::optional<Landing> landing_;
};

}  // namespace echolux::cuda
