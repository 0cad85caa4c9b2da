// The queue's one owner: everything that the device does is submitted here, in order, and a timeline semaphore tells
// how far it is.
#pragma once

#include <vulkan/vulkan_raii.hpp>

#include <cstdint>
#include <functional>

#include "render/vk/device.h"

namespace echolux::gpu {

using Recording = std::function<void(const vk::raii::CommandBuffer&)>;

// What is recorded before is finished and visible to what is recorded after.
void record_order(const vk::raii::CommandBuffer& commands);

class Queue {
  public:
    explicit Queue(const Device& device);
    ~Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    // Records and submits; what was submitted before is visible to it. Returns the timeline value that its end signals.
    std::uint64_t submit(const Recording& record);

    // Throws Error{device} when the device is lost.
    void wait(std::uint64_t value);

    void run(const Recording& record) { wait(submit(record)); }

  private:
    const Device& device_;
    vk::raii::Queue queue_;
    vk::raii::CommandPool pool_;
    vk::raii::CommandBuffer commands_;
    vk::raii::Semaphore timeline_;
    std::uint64_t submitted_ = 0;
};

}  // namespace echolux::gpu
