#include "render/vk/timeline.h"

#include <exception>

namespace echolux::gpu {
namespace {

constexpr auto handle_type = vk::ExternalSemaphoreHandleTypeFlagBits::eOpaqueFd;

// Timelines start at 0.
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
    device_.check("asking a timeline");
    return reporting("asking a timeline", [&] { return semaphore_.getCounterValue(); });
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

bool Timeline::give_up(std::uint64_t value) const noexcept {
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

}  // namespace echolux::gpu
