#include "render/vk/queue.h"

namespace echolux::gpu {
namespace {

constexpr std::uint32_t submissions_under_way = 32;  // enough for several frames of a window with several panes
// Interval between calls of the watch function
constexpr std::chrono::seconds patience{1};

std::vector<vk::SemaphoreSubmitInfo> submit_infos(const std::vector<TimelinePoint>& points) {
    std::vector<vk::SemaphoreSubmitInfo> infos;
    for (const TimelinePoint& point : points) {
        infos.push_back({.semaphore = point.semaphore,
                         .value = point.value,
                         .stageMask = vk::PipelineStageFlagBits2::eAllCommands});
    }
    return infos;
}

// Barriers separate the parts of a submission, and the submission from all earlier ones.
void record_chain(const vk::raii::CommandBuffer& commands, const Recording& record, const Chain& chain) {
    record_order(commands);
    if (chain.before) {
        chain.before(commands);
        record_order(commands);
    }
    record(commands);
    if (chain.after) {
        record_order(commands);
        chain.after(commands);
    }
}

// Records the whole command buffer. If a recording throws, resets the buffer so that it can be recorded again.
void record_all(const vk::raii::CommandBuffer& commands, const Recording& record, const Chain& chain) {
    commands.begin({.flags = vk::CommandBufferUsageFlagBits::eOneTimeSubmit});
    try {
        record_chain(commands, record, chain);
    } catch (...) {
        try {
            commands.reset();
        } catch (const vk::SystemError&) {  // the original exception is rethrown
        }
        throw;
    }
    commands.end();
}

}  // namespace

Chain share_of(const Chain& chain, bool is_first, bool is_last) {
    Chain share;
    if (is_first) share.before = chain.before, share.waits = chain.waits;
    if (is_last) share.after = chain.after, share.signals = chain.signals;
    return share;
}

void record_order(const vk::raii::CommandBuffer& commands) {
    const vk::MemoryBarrier2 all{.srcStageMask = vk::PipelineStageFlagBits2::eAllCommands,
                                 .srcAccessMask = vk::AccessFlagBits2::eMemoryWrite,
                                 .dstStageMask = vk::PipelineStageFlagBits2::eAllCommands,
                                 .dstAccessMask = vk::AccessFlagBits2::eMemoryRead | vk::AccessFlagBits2::eMemoryWrite};
    commands.pipelineBarrier2({.memoryBarrierCount = 1, .pMemoryBarriers = &all});
}

std::vector<Queue::Commands> Queue::made_commands(const Device& device, const vk::raii::CommandPool& pool) {
    vk::raii::CommandBuffers buffers(
        device.logical(),
        vk::CommandBufferAllocateInfo{.commandPool = *pool, .commandBufferCount = submissions_under_way});
    std::vector<Commands> ring;
    for (vk::raii::CommandBuffer& buffer : buffers) ring.push_back({std::move(buffer)});
    return ring;
}

Queue::Queue(const Device& device)
    : device_(device), queue_(device.logical(), device.queue_family(), 0),
      pool_(device.logical(), vk::CommandPoolCreateInfo{.flags = vk::CommandPoolCreateFlagBits::eResetCommandBuffer,
                                                        .queueFamilyIndex = device.queue_family()}),
      ring_(made_commands(device, pool_)), timeline_(device) {}

Queue::~Queue() {
    settle();
}

std::uint64_t Queue::submit(const Recording& record, const Chain& chain) {
    const std::scoped_lock lock(submitting_);
    Commands& commands = ring_[submitted_ % ring_.size()];
    // Blocks only if all command buffers are in flight.
    wait(commands.value);
    return reporting("submitting graphics work", [&] {
        record_all(commands.buffer, record, chain);
        const std::uint64_t value = submitted_ + 1;
        const std::vector<vk::SemaphoreSubmitInfo> before = submit_infos(chain.waits);
        std::vector<vk::SemaphoreSubmitInfo> after = submit_infos(chain.signals);
        after.push_back({.semaphore = timeline_.semaphore(),
                         .value = value,
                         .stageMask = vk::PipelineStageFlagBits2::eAllCommands});
        const vk::CommandBufferSubmitInfo work{.commandBuffer = *commands.buffer};
        const vk::SubmitInfo2 submission{.waitSemaphoreInfoCount = static_cast<std::uint32_t>(before.size()),
                                         .pWaitSemaphoreInfos = before.data(),
                                         .commandBufferInfoCount = 1,
                                         .pCommandBufferInfos = &work,
                                         .signalSemaphoreInfoCount = static_cast<std::uint32_t>(after.size()),
                                         .pSignalSemaphoreInfos = after.data()};
        // A simulated loss drops the submission but still issues the value, like a device that never finishes.
        if (device_.takes_work()) queue_.submit2(submission);
        submitted_ = commands.value = value;
        return value;
    });
}

vk::Result Queue::present(vk::SwapchainKHR swapchain, std::uint32_t image, vk::Semaphore drawn) {
    const std::scoped_lock lock(submitting_);
    device_.check("showing a picture");
    return reporting("showing a picture", [&] {
        try {
            return queue_.presentKHR({.waitSemaphoreCount = 1,
                                      .pWaitSemaphores = &drawn,
                                      .swapchainCount = 1,
                                      .pSwapchains = &swapchain,
                                      .pImageIndices = &image});
        } catch (const vk::OutOfDateKHRError&) {
            return vk::Result::eErrorOutOfDateKHR;
        }
    });
}

void Queue::wait_or_be_lost() noexcept {
    try {
        wait_for_all();                // the watch function handles external signals that are overdue
    } catch (const std::exception&) {  // the device is lost
    }
}

void Queue::settle() noexcept {
    wait_or_be_lost();
    try {
        const std::scoped_lock lock(submitting_);
        insisting([&] { queue_.waitIdle(); });  // presentation is not covered by the timeline
    } catch (const std::exception&) {           // the device is lost and uses nothing
    }
}

void Queue::wait(std::uint64_t value) {
    while (!timeline_.wait(value, patience)) {
        const std::scoped_lock lock(watching_);
        if (watch_) watch_();
    }
}

void Queue::set_watch(std::function<void()> watch) {
    const std::scoped_lock lock(watching_);
    watch_ = std::move(watch);
}

}  // namespace echolux::gpu
