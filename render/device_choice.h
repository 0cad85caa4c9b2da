// Which Vulkan device makes the pictures: chosen by name or automatically, and every refusal says why. The choice works
// on plain facts, so that it can be tested without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compute/place.h"

namespace echolux {

// Less than the device has for volumes: for tests, and where others need its memory. Beyond it a volume is cut into
// pages.
struct VolumeLimits {
    std::int64_t edge = INT64_MAX;             // voxels, of a volume that is one texture
    std::int64_t pool_bytes = INT64_MAX;       // of that texture, or of the pool of pages
    std::int64_t page_edge = 64;               // voxels; a power of two
    std::int64_t pages_a_picture = INT64_MAX;  // that it brings in at most; 0: pictures of the coarse level only
};

// The window that pictures are shown in, as Vulkan has to know it. Whoever opens windows fills this in.
struct WindowSurface {
    std::vector<std::string> extensions;                // of the Vulkan instance, that the window system needs
    std::function<std::uint64_t(void* instance)> make;  // VkInstance to VkSurfaceKHR; throws Error{device}
};

struct DeviceChoice {
    std::string name;         // a part of the device's name, upper or lower case; "": the best that fits
    bool validation = false;  // Khronos validation layer; also asked for by ECHOLUX_VALIDATION=1
    std::function<void(const std::string&)> on_message;  // hears the layer's messages; without it: standard error
    DeviceId near{};  // the GPU that reconstructs: taken where it is among those that fit; all zero: no wish
    VolumeLimits volume_limits{};
    WindowSurface surface{};  // without `make`: no window; else devices that cannot show pictures in it are refused
    std::function<bool()> loses{};  // for tests, asked at each submission: from the first yes on as if it were lost
};

enum class DeviceType { discrete, integrated, virtual_gpu, cpu, other };  // best first

struct DeviceFacts {
    std::string name;
    DeviceType type = DeviceType::other;
    int major = 0;  // of the Vulkan version
    int minor = 0;
    std::vector<std::string> missing;  // features, formats, queues that the renderer needs
    DeviceId id{};
};

// Why the device cannot be used; "" when it can.
std::string refusal(const DeviceFacts& device);

// Index of the device to use: among those that fit the name and are not refused the one called `near`, then the best
// type, then the first. Throws Error{device} that lists every device and why it was not taken.
std::size_t chosen_device(std::span<const DeviceFacts> devices, const std::string& name, const DeviceId& near = {});

}  // namespace echolux
