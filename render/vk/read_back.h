// The only path by which pixels and statistics return to the host. It counts bytes, so that a test can prove that
// nothing else is copied back.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "render/picture.h"
#include "render/vk/image.h"
#include "render/vk/memory.h"
#include "render/vk/queue.h"

namespace echolux::gpu {

// Pixels being copied to the host. Must not outlive the queue.
class PendingPixels {
  public:
    // Blocks until the pixels have arrived. The span is valid as long as this object or a copy of it exists.
    // Thread-safe. Throws Error{device}.
    std::span<const std::byte> wait() const;

  private:
    friend class ReadBack;
    struct Transfer;
    std::shared_ptr<const Transfer> transfer_;
};

class ReadBack {
  public:
    ReadBack(const Device& device, Queue& queue) : device_(device), queue_(queue) {}

    // Submits a copy of an image to the host and returns without waiting. Pictures arrive row by row from the top,
    // volumes packed with the first axis fastest.
    PendingPixels begin(const DeviceImage& image, const Chain& chain = {});

    // Copies an image to the host and waits for it. The span is valid until the next call.
    std::span<const std::byte> pixels(const DeviceImage& image, const Chain& chain = {});

    // Returns the statistics, a few KiB, that finished work has written to a buffer. Does not wait.
    std::span<const std::byte> statistics(const HostBuffer& buffer);

    std::int64_t bytes_read() const { return bytes_read_; }
    std::int64_t statistics_read() const { return statistics_read_; }  // bytes, not part of bytes_read()

  private:
    friend struct PendingPixels::Transfer;

    // Unused host buffers: allocating one takes longer than filling it.
    struct Spare {
        std::mutex mutex;
        std::vector<std::unique_ptr<HostBuffer>> buffers;
    };

    std::unique_ptr<HostBuffer> buffer_of(std::size_t bytes);

    const Device& device_;
    Queue& queue_;
    std::shared_ptr<Spare> spare_ = std::make_shared<Spare>();
    PendingPixels last_;  // last result of pixels()
    std::atomic<std::int64_t> bytes_read_ = 0;
    std::int64_t statistics_read_ = 0;
};

// Copies a picture of 8 bits per channel to the host and waits for it.
Image image_of(ReadBack& read_back, const DeviceImage& picture);

// Device of a renderer, for a screen that shares it. Must not outlive the renderer.
struct SharedDevice {
    Device& device;
    Queue& queue;
    ReadBack& read_back;
};

}  // namespace echolux::gpu
