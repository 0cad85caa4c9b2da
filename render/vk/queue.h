// The only access to the device queue. All work is submitted here in order, and a timeline semaphore reports progress.
// Up to 32 submissions are in flight; the host blocks only when all command buffers are in use.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>
#include <vulkan/vulkan_raii.hpp>

#include "render/vk/device.h"
#include "render/vk/memory.h"

namespace echolux::gpu {

// ---- A timeline semaphore: a monotonic counter that the host and queues of any API can wait for.

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
    bool abandon(std::uint64_t value) const noexcept;

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

// Makes copies recorded before visible to the host.
void record_for_host(const vk::raii::CommandBuffer& commands);

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

    static std::vector<Commands> create_commands(const Device& device, const vk::raii::CommandPool& pool);

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

// ---- Measures the execution time of work on the device with timestamps before and after it, read once it has
// finished.

class Stopwatch {
  public:
    explicit Stopwatch(const Device& device);

    // Returns the chain for one of several submissions that make up `chain`: the first waits and starts the watch, the
    // last stops it and signals.
    Chain around(const Chain& chain, bool begins, bool ends) const;

    // Start and stop the watch within one submission.
    void record_start(const vk::raii::CommandBuffer& commands) const;
    void record_stop(const vk::raii::CommandBuffer& commands) const;

    // Returns the time between start and stop of finished work. Empty if the queue has no timestamps or the work was
    // lost.
    std::optional<double> seconds() const;

  private:
    std::uint32_t valid_bits_;
    double tick_s_;
    vk::raii::QueryPool pool_;
};

}  // namespace echolux::gpu
