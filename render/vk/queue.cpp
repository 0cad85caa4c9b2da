#include "render/vk/queue.h"

namespace echolux::gpu {
namespace {

vk::raii::CommandBuffer made_commands(const Device& device, const vk::raii::CommandPool& pool) {
    vk::raii::CommandBuffers buffers(device.logical(),
                                     vk::CommandBufferAllocateInfo{.commandPool = *pool, .commandBufferCount = 1});
    return std::move(buffers.front());
}

vk::raii::Semaphore made_timeline(const Device& device) {
    const vk::SemaphoreTypeCreateInfo type{.semaphoreType = vk::SemaphoreType::eTimeline};
    return {device.logical(), vk::SemaphoreCreateInfo{.pNext = &type}};
}

}  // namespace

void record_order(const vk::raii::CommandBuffer& commands) {
    const vk::MemoryBarrier2 all{.srcStageMask = vk::PipelineStageFlagBits2::eAllCommands,
                                 .srcAccessMask = vk::AccessFlagBits2::eMemoryWrite,
                                 .dstStageMask = vk::PipelineStageFlagBits2::eAllCommands,
                                 .dstAccessMask = vk::AccessFlagBits2::eMemoryRead | vk::AccessFlagBits2::eMemoryWrite};
    commands.pipelineBarrier2({.memoryBarrierCount = 1, .pMemoryBarriers = &all});
}

Queue::Queue(const Device& device)
    : device_(device), queue_(device.logical(), device.queue_family(), 0),
      pool_(device.logical(), vk::CommandPoolCreateInfo{.flags = vk::CommandPoolCreateFlagBits::eResetCommandBuffer,
                                                        .queueFamilyIndex = device.queue_family()}),
      commands_(made_commands(device, pool_)), timeline_(made_timeline(device)) {}

Queue::~Queue() {
    try {
        wait(submitted_);
    } catch (const std::exception&) {  // a lost device has nothing left to wait for
    }
}

std::uint64_t Queue::submit(const Recording& record) {
    wait(submitted_);  // there is one command buffer
    return reporting("submitting graphics work", [&] {
        commands_.begin({.flags = vk::CommandBufferUsageFlagBits::eOneTimeSubmit});
        record_order(commands_);
        record(commands_);
        commands_.end();
        const vk::CommandBufferSubmitInfo work{.commandBuffer = *commands_};
        const vk::SemaphoreSubmitInfo signal{
            .semaphore = *timeline_, .value = submitted_ + 1, .stageMask = vk::PipelineStageFlagBits2::eAllCommands};
        queue_.submit2(vk::SubmitInfo2{.commandBufferInfoCount = 1,
                                       .pCommandBufferInfos = &work,
                                       .signalSemaphoreInfoCount = 1,
                                       .pSignalSemaphoreInfos = &signal});
        return ++submitted_;
    });
}

void Queue::wait(std::uint64_t value) {
    reporting("waiting for the graphics device", [&] {
        const vk::SemaphoreWaitInfo until{.semaphoreCount = 1, .pSemaphores = &*timeline_, .pValues = &value};
        return device_.logical().waitSemaphores(until, UINT64_MAX);
    });
}

}  // namespace echolux::gpu
