// Selection of the Vulkan device, by name or automatically. Refusals state the reason. Works on plain data, to be
// testable without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compute/voxel_target.h"

namespace echolux {

// Limits below those of the device, for tests and to leave memory to others. Larger volumes are cut into pages.
struct VolumeLimits {
    std::int64_t edge = INT64_MAX;             // in voxels, max edge of a volume in one texture
    std::int64_t pool_bytes = INT64_MAX;       // max size of that texture or of the pool of pages
    std::int64_t page_edge = 64;               // in voxels, a power of two
    std::int64_t pages_a_picture = INT64_MAX;  // max pages loaded per picture; 0: coarse level only
};

// The window that shows pictures, provided by the window code.
struct WindowSurface {
    std::vector<std::string> extensions;                // Vulkan instance extensions of the window system
    std::function<std::uint64_t(void* instance)> make;  // VkInstance to VkSurfaceKHR; throws Error{device}
};

struct GpuDevice {
    std::string name;         // case-insensitive part of the device's name; empty: automatic
    bool validation = false;  // Khronos validation layer; also enabled by ECHOLUX_VALIDATION=1
    // Receives the messages of the validation layer. Default: standard error.
    std::function<void(const std::string&)> on_message;
    // The reconstructing GPU, preferred among suitable devices. All zero: no preference.
    DeviceId near{};
    VolumeLimits volume_limits{};
    // Without `make`: no window. Otherwise devices that cannot present to the window are refused.
    WindowSurface surface{};
    // Fault injection for tests, called for each submission. Once it returns true, the device behaves as if lost.
    std::function<bool()> loses{};
};

enum class DeviceType { discrete, integrated, virtual_gpu, cpu, other };  // in order of preference

struct DeviceFacts {
    std::string name;
    DeviceType type = DeviceType::other;
    int major = 0;  // Vulkan version
    int minor = 0;
    std::vector<std::string> missing;  // missing features, formats and queues that the renderer requires
    DeviceId id{};
};

// Returns the reason why a device cannot be used; empty if it can.
std::string refusal(const DeviceFacts& device);

// Returns the index of the device to use. Of the suitable devices that match the name, prefers `near`, then the best
// type, then the first. Throws Error{device} with all devices and the reasons for their refusal.
std::size_t chosen_device(std::span<const DeviceFacts> devices, const std::string& name, const DeviceId& near = {});

}  // namespace echolux
