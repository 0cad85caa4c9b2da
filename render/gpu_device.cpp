#include "render/gpu_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "compute/error.h"

namespace echolux {
namespace {

std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

bool is_called(const DeviceFacts& device, const std::string& name) {
    return lower_case(device.name).find(lower_case(name)) != std::string::npos;
}

}  // namespace

std::string refusal(const DeviceFacts& device) {
    if (device.major < 1 || (device.major == 1 && device.minor < 3)) {
        return fmt::format("has Vulkan {}.{}, 1.3 is needed", device.major, device.minor);
    }
    if (!device.missing.empty()) return fmt::format("lacks {}", fmt::join(device.missing, ", "));
    return {};
}

std::size_t chosen_device(std::span<const DeviceFacts> devices, const std::string& name, const DeviceId& near) {
    if (devices.empty()) {
        throw Error(ErrorCode::device, "no Vulkan device was found", "renderer",
                    "install a graphics driver, or Mesa's software renderer: package mesa-vulkan-drivers");
    }
    const auto rank = [&](const DeviceFacts& device) {
        const bool is_near = near != DeviceId{} && device.id == near;
        return std::pair(is_near ? 0 : 1, device.type);
    };
    std::optional<std::size_t> best;
    std::vector<std::string> reasons;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        std::string reason = refusal(devices[i]);
        if (reason.empty() && !is_called(devices[i], name)) reason = "has a different name";
        if (!reason.empty()) {
            reasons.push_back(fmt::format("\"{}\" {}", devices[i].name, reason));
        } else if (!best || rank(devices[i]) < rank(devices[*best])) {
            best = i;
        }
    }
    if (best) return *best;
    const std::string wanted = name.empty() ? "no suitable Vulkan device was found"
                                            : fmt::format("no suitable Vulkan device is called \"{}\"", name);
    throw Error(ErrorCode::device, fmt::format("{}: {}", wanted, fmt::join(reasons, "; ")), "renderer",
                "name another device, update its driver, or install package mesa-vulkan-drivers");
}

}  // namespace echolux
