// Instance, physical and logical device, created together and destroyed in reverse order of the members. The Vulkan
// loader is opened at run time, so the program also starts on machines without Vulkan.
#pragma once

#include <vulkan/vulkan_raii.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "render/gpu_device.h"

namespace echolux::gpu {

// Thread-safe after construction: all members but the lost flag are immutable.
class Device {
  public:
    // Opens the device that `choice` selects. Calls `choice.surface.make` once and passes its exceptions on. Throws
    // Error{device} without a loader, a driver or a suitable device, or if a requested validation layer is missing.
    explicit Device(const GpuDevice& choice);
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const vk::raii::Device& logical() const { return device_; }
    const vk::raii::PhysicalDevice& physical() const { return physical_; }
    std::uint32_t queue_family() const { return queue_family_; }
    bool draws() const { return draws_; }  // the queue family also supports graphics

    // Surface of the window that shows the pictures; null without a window.
    vk::SurfaceKHR surface() const { return *surface_; }
    const std::string& name() const { return name_; }
    const DeviceId& id() const { return id_; }
    bool is_software() const { return software_; }

    // Returns true if samplers support min and max reduction (VkSamplerReductionMode). The texture format must support
    // it too.
    bool reduces() const { return reduces_; }

    // Return true if memory and timelines of this device can be exported to another API on the same GPU.
    bool exports_memory() const { return exports_memory_; }
    bool exports_timelines() const { return exports_timelines_; }

    // Returns true if the driver reports a memory budget (VK_EXT_memory_budget).
    bool reports_budget() const { return reports_budget_; }

    // Fault injection for tests, see GpuDevice::loses. After the simulated loss, submitted work vanishes together with
    // its signals, and check() throws Error{device} as the driver does on a lost device.
    bool accepts_work() const;
    bool is_lost() const { return lost_; }
    void check(const char* doing) const;

  private:
    std::function<void(const std::string&)> on_message_;  // must outlive the instance, which sends messages to it
    std::function<bool()> loses_;
    mutable std::atomic<bool> lost_ = false;
    vk::raii::Context context_;
    vk::raii::Instance instance_;
    vk::raii::DebugUtilsMessengerEXT messenger_;
    vk::raii::SurfaceKHR surface_;
    vk::raii::PhysicalDevice physical_;
    std::string name_;
    DeviceId id_{};
    bool software_ = false;
    bool reduces_ = false;
    bool reports_budget_ = false;
    bool exports_memory_ = false;
    bool exports_timelines_ = false;
    std::uint32_t queue_family_ = 0;
    bool draws_ = false;
    vk::raii::Device device_;
};

// Throws Error{out_of_memory} or Error{device} that names the failed step: "`doing` failed: ...".
[[noreturn]] void throw_vulkan_error(const char* doing, const vk::SystemError& error);

// Runs `call` and returns its result. Translates Vulkan errors with throw_vulkan_error().
template <class Call>
decltype(auto) reporting(const char* doing, Call&& call) {
    try {
        return call();
    } catch (const vk::SystemError& error) {
        throw_vulkan_error(doing, error);
    }
}

// Returns true for a shortage of host or device memory. It may pass: the device remains usable.
inline bool is_out_of_memory(const vk::SystemError& error) {
    return error.code() == vk::Result::eErrorOutOfDeviceMemory || error.code() == vk::Result::eErrorOutOfHostMemory;
}

// Runs `call`, a wait or a signal, and retries it for 5 s while memory is short. Giving up a wait would let the caller
// free memory that the device still uses.
template <class Call>
decltype(auto) insisting(Call&& call) {
    for (int attempts_left = 500;; --attempts_left) {
        try {
            return call();
        } catch (const vk::SystemError& error) {
            if (!is_out_of_memory(error) || attempts_left == 0) throw;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

}  // namespace echolux::gpu
