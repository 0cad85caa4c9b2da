// The one way by which pixels and statistics come back to the host, with counters, so that a test can prove that
// nothing else does.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "render/vk/image.h"
#include "render/vk/memory.h"
#include "render/vk/queue.h"

namespace echolux::gpu {

// Pixels on their way to the host. Lives shorter than the queue.
class ComingPixels {
  public:
    // Waits until they are there, on any thread. Valid as long as this or a copy of it. Throws Error{device}.
    std::span<const std::byte> wait() const;

  private:
    friend class ReadBack;
    struct Transfer;
    std::shared_ptr<const Transfer> transfer_;
};

class ReadBack {
  public:
    ReadBack(const Device& device, Queue& queue) : device_(device), queue_(queue) {}

    // Submits a copy of the pixels of a picture, row by row from the top, or of the voxels of a volume, packed, and
    // returns: nobody waits.
    ComingPixels begin(const DeviceImage& image, const Chain& chain = {});

    // The same, waited for; valid until the next call.
    std::span<const std::byte> pixels(const DeviceImage& image, const Chain& chain = {});

    // What finished work has left in a buffer: a few KiB, which nobody waits for.
    std::span<const std::byte> statistics(const HostBuffer& buffer);

    std::int64_t bytes_read() const { return bytes_read_; }
    std::int64_t statistics_read() const { return statistics_read_; }  // bytes, apart from those

  private:
    friend struct ComingPixels::Transfer;

    // Memory that nobody reads any more: making it takes longer than filling it.
    struct Spare {
        std::mutex mutex;
        std::vector<std::unique_ptr<HostBuffer>> buffers;
    };

    std::unique_ptr<HostBuffer> buffer_of(std::size_t bytes);

    const Device& device_;
    Queue& queue_;
    std::shared_ptr<Spare> spare_ = std::make_shared<Spare>();
    ComingPixels last_;  // that pixels() returned
    std::atomic<std::int64_t> bytes_read_ = 0;
    std::int64_t statistics_read_ = 0;
};

}  // namespace echolux::gpu
