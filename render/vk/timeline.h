// A timeline semaphore: a monotonic counter that the host and queues of any API can wait for.
#pragma once

#include <vulkan/vulkan_raii.hpp>

#include <chrono>
#include <cstdint>
#include <mutex>

#include "render/vk/device.h"
#include "render/vk/handle.h"

namespace echolux::gpu {

// exported: another API on the same GPU can import the memory or semaphore.
enum class Sharing { none, exported };

class Timeline {
  public:
    // Sharing::exported requires Device::exports_timelines().
    explicit Timeline(const Device& device, Sharing sharing = Sharing::none);

    // Returns the current value. Throws Error{device} if the device is lost.
    vk::Semaphore semaphore() const { return *semaphore_; }
    std::uint64_t value() const;

    // Signals from the host, unless the value has been reached already. Also attempted on a lost device, because others
    // may be waiting. Throws Error{device}.
    void signal(std::uint64_t value) const;

    // Signals on behalf of a signaller that is gone for good. Must not be used while another signaller is active: it
    // could be overtaken, and the value would decrease. Returns false if signalling failed.
    bool give_up(std::uint64_t value) const noexcept;

    // Returns false on timeout. Throws Error{device} if the device is lost.
    bool wait(std::uint64_t value, std::chrono::nanoseconds longest) const;

    // Exports the semaphore as a file descriptor, owned by the caller.
    Handle exported() const;

  private:
    // Returns the last value that the host signalled if the device cannot be queried.
    std::uint64_t known_value() const noexcept;

    const Device& device_;
    vk::raii::Semaphore semaphore_;
    mutable std::mutex signalling_;        // serialises host signals, so that the value only grows
    mutable std::uint64_t signalled_ = 0;  // last value signalled from the host: a lost device may not report its own
};

// A timeline value that submitted work waits for or signals. For a binary semaphore, `value` is ignored.
struct TimelinePoint {
    vk::Semaphore semaphore;
    std::uint64_t value = 0;
};

}  // namespace echolux::gpu
