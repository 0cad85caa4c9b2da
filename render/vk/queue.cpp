#include "render/vk/queue.h"

#include <exception>

namespace echolux::gpu {
namespace {

constexpr std::uint32_t submissions_in_flight = 32;  // enough for several frames of a window with several panes
// Interval between calls of the watch function
constexpr std::chrono::seconds poll_interval{1};

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

void record_for_host(const vk::raii::CommandBuffer& commands) {
    const vk::MemoryBarrier2 to_host{.srcStageMask = vk::PipelineStageFlagBits2::eCopy,
                                     .srcAccessMask = vk::AccessFlagBits2::eTransferWrite,
                                     .dstStageMask = vk::PipelineStageFlagBits2::eHost,
                                     .dstAccessMask = vk::AccessFlagBits2::eHostRead};
    commands.pipelineBarrier2({.memoryBarrierCount = 1, .pMemoryBarriers = &to_host});
}

std::vector<Queue::Commands> Queue::create_commands(const Device& device, const vk::raii::CommandPool& pool) {
    vk::raii::CommandBuffers buffers(
        device.logical(),
        vk::CommandBufferAllocateInfo{.commandPool = *pool, .commandBufferCount = submissions_in_flight});
    std::vector<Commands> ring;
    for (vk::raii::CommandBuffer& buffer : buffers) ring.push_back({std::move(buffer)});
    return ring;
}

Queue::Queue(const Device& device)
    : device_(device), queue_(device.logical(), device.queue_family(), 0),
      pool_(device.logical(), vk::CommandPoolCreateInfo{.flags = vk::CommandPoolCreateFlagBits::eResetCommandBuffer,
                                                        .queueFamilyIndex = device.queue_family()}),
      ring_(create_commands(device, pool_)), timeline_(device) {}

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
        if (device_.accepts_work()) queue_.submit2(submission);
        submitted_ = commands.value = value;
        return value;
    });
}

vk::Result Queue::present(vk::SwapchainKHR swapchain, std::uint32_t image, vk::Semaphore drawn) {
    const std::scoped_lock lock(submitting_);
    device_.check("presenting a frame");
    return reporting("presenting a frame", [&] {
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
    while (!timeline_.wait(value, poll_interval)) {
        const std::scoped_lock lock(watching_);
        if (watch_) watch_();
    }
}

void Queue::set_watch(std::function<void()> watch) {
    const std::scoped_lock lock(watching_);
    watch_ = std::move(watch);
}

// ---- Timeline

constexpr auto handle_type = vk::ExternalSemaphoreHandleTypeFlagBits::eOpaqueFd;

// Timelines start at 0.
static vk::raii::Semaphore create_semaphore(const Device& device, Sharing sharing) {
    const vk::ExportSemaphoreCreateInfo exported{.handleTypes = handle_type};
    const vk::SemaphoreTypeCreateInfo type{.pNext = sharing == Sharing::exported ? &exported : nullptr,
                                           .semaphoreType = vk::SemaphoreType::eTimeline};
    return {device.logical(), vk::SemaphoreCreateInfo{.pNext = &type}};
}

Timeline::Timeline(const Device& device, Sharing sharing)
    : device_(device), semaphore_(create_semaphore(device, sharing)) {}

std::uint64_t Timeline::value() const {
    device_.check("reading a timeline");
    return reporting("reading a timeline", [&] { return semaphore_.getCounterValue(); });
}

std::uint64_t Timeline::known_value() const noexcept {
    try {
        return semaphore_.getCounterValue();
    } catch (const std::exception&) {  // the device is lost
        return signalled_;
    }
}

void Timeline::signal(std::uint64_t value) const {
    const std::scoped_lock lock(signalling_);
    if (known_value() >= value) return;
    reporting("signalling a timeline", [&] {
        insisting([&] { device_.logical().signalSemaphore({.semaphore = *semaphore_, .value = value}); });
    });
    signalled_ = value;
}

bool Timeline::abandon(std::uint64_t value) const noexcept {
    try {
        signal(value);
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

bool Timeline::wait(std::uint64_t value, std::chrono::nanoseconds longest) const {
    // On a lost device the wait only polls, so that check() below can report the loss.
    if (device_.is_lost()) longest = {};
    return reporting("waiting for the graphics device", [&] {
        const vk::Semaphore semaphore = *semaphore_;
        const vk::SemaphoreWaitInfo until{.semaphoreCount = 1, .pSemaphores = &semaphore, .pValues = &value};
        const vk::Result result = insisting(
            [&] { return device_.logical().waitSemaphores(until, static_cast<std::uint64_t>(longest.count())); });
        if (result != vk::Result::eSuccess) device_.check("waiting for the graphics device");
        return result == vk::Result::eSuccess;
    });
}

Handle Timeline::exported() const {
    return reporting("exporting a timeline", [&] {
        return Handle(device_.logical().getSemaphoreFdKHR({.semaphore = *semaphore_, .handleType = handle_type}));
    });
}

// ---- Timestamps

constexpr std::uint32_t start = 0, stop = 1, marks = 2;

static void record_mark(const vk::raii::CommandBuffer& commands, vk::QueryPool pool, std::uint32_t mark) {
    commands.writeTimestamp2(vk::PipelineStageFlagBits2::eAllCommands, pool, mark);
}

// timestampPeriod is in ns per tick.
Stopwatch::Stopwatch(const Device& device)
    : valid_bits_(device.physical().getQueueFamilyProperties()[device.queue_family()].timestampValidBits),
      tick_s_(1e-9 * static_cast<double>(device.physical().getProperties().limits.timestampPeriod)),
      pool_(device.logical(), vk::QueryPoolCreateInfo{.queryType = vk::QueryType::eTimestamp, .queryCount = marks}) {}

void Stopwatch::record_start(const vk::raii::CommandBuffer& commands) const {
    if (valid_bits_ == 0) return;
    commands.resetQueryPool(*pool_, 0, marks);
    record_mark(commands, *pool_, start);
}

void Stopwatch::record_stop(const vk::raii::CommandBuffer& commands) const {
    if (valid_bits_ > 0) record_mark(commands, *pool_, stop);
}

Chain Stopwatch::around(const Chain& chain, bool begins, bool ends) const {
    Chain part;
    if (begins) {
        part.waits = chain.waits;
        part.before = [this, before = chain.before](const vk::raii::CommandBuffer& commands) {
            record_start(commands);
            if (before) before(commands);
        };
    }
    if (ends) {
        part.signals = chain.signals;
        part.after = [this, after = chain.after](const vk::raii::CommandBuffer& commands) {
            record_stop(commands);
            if (after) after(commands);
        };
    }
    return part;
}

std::optional<double> Stopwatch::seconds() const {
    if (valid_bits_ == 0) return {};
    const auto [result, ticks] = pool_.getResults<std::uint64_t>(0, marks, marks * sizeof(std::uint64_t),
                                                                 sizeof(std::uint64_t), vk::QueryResultFlagBits::e64);
    if (result != vk::Result::eSuccess) return {};
    // Timestamps wrap around at 2^valid_bits.
    const std::uint64_t valid = valid_bits_ == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << valid_bits_) - 1;
    return static_cast<double>((ticks[stop] - ticks[start]) & valid) * tick_s_;
}

}  // namespace echolux::gpu
