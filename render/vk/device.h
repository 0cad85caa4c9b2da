// Instance, physical and logical device, created together and destroyed in reverse order of the members. The Vulkan
// loader is opened here, at run time.
#pragma once

#include <vulkan/vulkan_raii.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "render/device_choice.h"

namespace echolux::gpu {

class Device {
  public:
    // Throws Error{device}: no loader, no driver, no device that fits, validation layer missing.
    // `choice.surface.make` is called once, and what it throws comes through.
    explicit Device(const DeviceChoice& choice);
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const vk::raii::Device& logical() const { return device_; }
    const vk::raii::PhysicalDevice& physical() const { return physical_; }
    std::uint32_t queue_family() const { return queue_family_; }
    bool draws() const { return draws_; }  // whether that queue takes graphics work, not only compute

    // Of the window that the device shows pictures in; null: there is none.
    vk::SurfaceKHR surface() const { return *surface_; }
    const std::string& name() const { return name_; }
    const DeviceId& id() const { return id_; }
    bool is_software() const { return software_; }

    // Whether samplers can take the smallest or the largest value instead of filtering (where the format can as well).
    bool reduces() const { return reduces_; }

    // Whether another API on the same GPU can be given memory and timelines of this device.
    bool exports_memory() const { return exports_memory_; }
    bool exports_timelines() const { return exports_timelines_; }

    // Whether the driver says how much of its memory is free.
    bool tells_budget() const { return tells_budget_; }

    // The loss that DeviceChoice::loses plants: work that is not taken vanishes, with the signals that it owes, and
    // from then on check() throws Error{device}, as the driver does where a device is lost.
    bool takes_work() const;
    bool is_lost() const { return lost_; }
    void check(const char* doing) const;

  private:
    std::function<void(const std::string&)> on_message_;  // outlives the instance, which speaks until its end
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
    bool tells_budget_ = false;
    bool exports_memory_ = false;
    bool exports_timelines_ = false;
    std::uint32_t queue_family_ = 0;
    bool draws_ = false;
    vk::raii::Device device_;
};

[[noreturn]] void throw_vulkan_error(const char* doing, const vk::SystemError& error);

// Runs `call`; a Vulkan error becomes Error{device} or Error{out_of_memory} that says what was being done.
template <class Call>
decltype(auto) reporting(const char* doing, Call&& call) {
    try {
        return call();
    } catch (const vk::SystemError& error) {
        throw_vulkan_error(doing, error);
    }
}

// Whether memory was short, which may be for a moment: the device is there and goes on.
inline bool is_out_of_memory(const vk::SystemError& error) {
    return error.code() == vk::Result::eErrorOutOfDeviceMemory || error.code() == vk::Result::eErrorOutOfHostMemory;
}

// Runs `call`, which waits or signals, again for some seconds while memory is short: whoever gives up waiting frees
// what the device still works on.
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
