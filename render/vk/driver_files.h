// Installed Vulkan drivers that cannot be loaded. The Vulkan loader skips them silently, so that a driver that lacks a
// library looks like no driver at all.
#pragma once

#include <string>
#include <vector>

#include "compute/error.h"

namespace echolux::gpu {

struct UnusableDriver {
    std::string manifest;  // path of the JSON file that describes the driver
    std::string library;   // the driver's library as named there; empty: the manifest is missing or invalid
    std::string reason;    // message of the dynamic linker, or the fault of the manifest
};

// Returns the drivers whose library cannot be opened, from VK_DRIVER_FILES or the folders that the loader searches.
std::vector<UnusableDriver> unusable_drivers();

// Returns Error{device}. `problem` is extended by the unusable drivers, and the remedy names the missing library.
Error no_driver(const std::string& problem, const std::vector<UnusableDriver>& unusable);

}  // namespace echolux::gpu
