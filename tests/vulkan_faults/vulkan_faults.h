// A test's side of the layer that makes Vulkan calls fail: devices that are made while this lives go through it. The
// layer stays loaded to the end of the process.
#pragma once

#include <string>

#include "tests/vulkan_faults/faults.h"

namespace echolux::test {

class VulkanFaultLayer {
  public:
    // From now on Vulkan instances of this process load the layer; what VK_INSTANCE_LAYERS asked for is set aside.
    // Throws std::runtime_error where the layer is missing.
    VulkanFaultLayer();
    ~VulkanFaultLayer();
    VulkanFaultLayer(const VulkanFaultLayer&) = delete;
    VulkanFaultLayer& operator=(const VulkanFaultLayer&) = delete;

    void plan(const VulkanFaultPlan& plan) { plan_(&plan); }

    // Since the last plan. Throws std::runtime_error when no instance has been made through the layer at all: then
    // nothing was proven.
    VulkanFaultsSeen seen() const;

  private:
    std::string folder_;
    void (*plan_)(const VulkanFaultPlan*) = nullptr;
    void (*read_)(VulkanFaultsSeen*) = nullptr;
};

}  // namespace echolux::test
