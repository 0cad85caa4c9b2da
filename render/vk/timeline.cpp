#include "render/vk/timeline.h"

namespace echolux::gpu {
namespace {

constexpr auto handle_type = vk::ExternalSemaphoreHandleTypeFlagBits::eOpaqueFd;

vk::raii::Semaphore made_semaphore(const Device& device, Sharing sharing) {
    const vk::ExportSemaphoreCreateInfo exported{.handleTypes = handle_type};
    const vk::SemaphoreTypeCreateInfo type{.pNext = sharing == Sharing::exported ? &exported : nullptr,
                                           .semaphoreType = vk::SemaphoreType::eTimeline};
    return {device.logical(), vk::SemaphoreCreateInfo{.pNext = &type}};
}

}  // namespace

Timeline::Timeline(const Device& device, Sharing sharing)
    : device_(device), semaphore_(made_semaphore(device, sharing)) {}

std::uint64_t Timeline::value() const {
    return reporting("asking a timeline", [&] { return semaphore_.getCounterValue(); });
}

void Timeline::signal(std::uint64_t value) const {
    const std::scoped_lock lock(signalling_);
    reporting("signalling a timeline", [&] {
        if (semaphore_.getCounterValue() >= value) return;
        device_.logical().signalSemaphore({.semaphore = *semaphore_, .value = value});
    });
}

bool Timeline::wait(std::uint64_t value, std::chrono::nanoseconds longest) const {
    return reporting("waiting for the graphics device", [&] {
        const vk::Semaphore semaphore = *semaphore_;
        const vk::SemaphoreWaitInfo until{.semaphoreCount = 1, .pSemaphores = &semaphore, .pValues = &value};
        const vk::Result result = device_.logical().waitSemaphores(until, static_cast<std::uint64_t>(longest.count()));
        return result == vk::Result::eSuccess;
    });
}

Handle Timeline::exported() const {
    return reporting("exporting a timeline", [&] {
        return Handle(device_.logical().getSemaphoreFdKHR({.semaphore = *semaphore_, .handleType = handle_type}));
    });
}

}  // namespace echolux::gpu
