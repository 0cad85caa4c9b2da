// The only access to the device queue. All work is submitted here in order, and a timeline semaphore reports progress.
// Up to 32 submissions are in flight; the host blocks only when all command buffers are in use.
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

// Records commands into a command buffer that is already begun.
using Recording = std::function<void(const vk::raii::CommandBuffer&)>;

// Work recorded around a submission, and its synchronization. The submission starts after `waits` and signals `signals`
// when it completes.
struct Chain {
    Recording before;
    Recording after;
    std::vector<TimelinePoint> waits;
    std::vector<TimelinePoint> signals;
};

// Returns the part of `chain` for one of several submissions: the first gets `before` and `waits`, the last gets
// `after` and `signals`.
Chain share_of(const Chain& chain, bool is_first, bool is_last);

// Records a full barrier: commands recorded before it complete, and their writes are visible to commands after it.
void record_order(const vk::raii::CommandBuffer& commands);

class Queue {
  public:
    explicit Queue(const Device& device);
    ~Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    // Records and submits work that sees the writes of all earlier submissions. Returns the value of the queue's
    // timeline that is signalled on completion. Thread-safe. Throws Error{device, out_of_memory}.
    std::uint64_t submit(const Recording& record, const Chain& chain = {});

    // Presents a swapchain image once submitted work has signalled the binary semaphore `drawn`. Returns suboptimal or
    // out of date if the swapchain no longer matches the window. Thread-safe. Throws Error{device}.
    vk::Result present(vk::SwapchainKHR swapchain, std::uint32_t image, vk::Semaphore drawn);

    // Blocks until the timeline reaches `value`. Thread-safe. Throws Error{device} if the device is lost.
    void wait(std::uint64_t value);
    void wait_for_all() { wait(submitted_); }
    void wait_or_be_lost() noexcept;  // for destructors: a lost device no longer uses any resource
    bool is_done(std::uint64_t value) const { return timeline_.value() >= value; }

    // Blocks until the device and the presentation engine use no resource any longer, or the device is lost. For
    // destructors.
    void settle() noexcept;

    // Submits work and waits for it.
    void run(const Recording& record) { wait(submit(record)); }

    // Sets a function that a blocked wait calls about once per second, from the waiting thread. It can release work
    // that waits for an external signal. Without an argument the function is removed.
    void set_watch(std::function<void()> watch = {});

  private:
    struct Commands {
        vk::raii::CommandBuffer buffer;
        std::uint64_t value = 0;  // timeline value at which the buffer is free again
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
