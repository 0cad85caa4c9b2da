// A timeline semaphore: a number that only grows, for which queues of any API and the host can wait.
#pragma once

#include <vulkan/vulkan_raii.hpp>

#include <chrono>
#include <cstdint>
#include <mutex>

#include "render/vk/device.h"
#include "render/vk/handle.h"

namespace echolux::gpu {

enum class Sharing { none, exported };

class Timeline {
  public:
    // `exported` asks for Device::exports_timelines().
    explicit Timeline(const Device& device, Sharing sharing = Sharing::none);

    vk::Semaphore semaphore() const { return *semaphore_; }
    std::uint64_t value() const;

    // From the host; does nothing when the value has been reached already. Tried on a lost device too, where others may
    // be waiting. Throws Error{device}.
    void signal(std::uint64_t value) const;

    // The same in place of somebody who is gone for good: whoever else still signals could be overtaken, and the value
    // would go backwards. False: it could not be signalled.
    bool give_up(std::uint64_t value) const noexcept;

    // False when the time is over first. Throws Error{device} when the device is lost.
    bool wait(std::uint64_t value, std::chrono::nanoseconds longest) const;

    Handle exported() const;

  private:
    std::uint64_t known_value() const noexcept;

    const Device& device_;
    vk::raii::Semaphore semaphore_;
    mutable std::mutex signalling_;        // values only grow, whoever signals
    mutable std::uint64_t signalled_ = 0;  // from the host; a lost device may not say how far it is
};

// A value of a timeline, to be waited for or to be signalled by submitted work; or a binary semaphore, which has none.
struct TimelinePoint {
    vk::Semaphore semaphore;
    std::uint64_t value = 0;
};

}  // namespace echolux::gpu
