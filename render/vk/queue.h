// The queue's one owner: everything that the device does is submitted here, in order, and a timeline semaphore tells
// how far it is. Several submissions are under way at a time; the host waits only when all command buffers are.
#pragma once

#include <vulkan/vulkan_raii.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "render/vk/device.h"
#include "render/vk/timeline.h"

namespace echolux::gpu {

using Recording = std::function<void(const vk::raii::CommandBuffer&)>;

// What one piece of work stands in: recorded around it in the same submission, which starts after `waits` and whose end
// signals `signals`.
struct Chain {
    Recording before;
    Recording after;
    std::vector<TimelinePoint> waits;
    std::vector<TimelinePoint> signals;
};

// The share of a chain that the first, the last or another of several submissions has.
Chain share_of(const Chain& chain, bool is_first, bool is_last);

// What is recorded before is finished and visible to what is recorded after.
void record_order(const vk::raii::CommandBuffer& commands);

class Queue {
  public:
    explicit Queue(const Device& device);
    ~Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    // Records and submits; what was submitted before is visible to it. Returns the value of the queue's own timeline
    // that its end signals. From any thread.
    std::uint64_t submit(const Recording& record, const Chain& chain = {});

    // Shows an image of a swapchain as soon as the binary semaphore `drawn` is signalled, which submitted work does.
    // suboptimal, out of date: the window is not any more as the swapchain is. From any thread. Throws Error{device}.
    vk::Result present(vk::SwapchainKHR swapchain, std::uint32_t image, vk::Semaphore drawn);

    // From any thread. Throws Error{device} when the device is lost.
    void wait(std::uint64_t value);
    void wait_for_all() { wait(submitted_); }
    void wait_or_be_lost() noexcept;  // the same for destructors: of a lost device nothing is used any more
    bool is_done(std::uint64_t value) const { return timeline_.value() >= value; }

    // For destructors: nothing that was given to the device or to a window is used any more, be the device lost.
    void settle() noexcept;

    void run(const Recording& record) { wait(submit(record)); }

    // Called about once a second while the host waits in vain, from whichever thread waits: a chance to release work
    // that waits for someone else. Without an argument: nobody is called any more.
    void set_watch(std::function<void()> watch = {});

  private:
    struct Commands {
        vk::raii::CommandBuffer buffer;
        std::uint64_t value = 0;  // when it is free again
    };

    static std::vector<Commands> made_commands(const Device& device, const vk::raii::CommandPool& pool);

    const Device& device_;
    vk::raii::Queue queue_;
    vk::raii::CommandPool pool_;
    std::vector<Commands> ring_;
    Timeline timeline_;
    std::mutex submitting_;
    std::atomic<std::uint64_t> submitted_ = 0;
    std::mutex watching_;
    std::function<void()> watch_;
};

}  // namespace echolux::gpu
