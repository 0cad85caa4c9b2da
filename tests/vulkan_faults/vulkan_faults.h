// The test's interface to the layer that makes Vulkan calls fail. Devices created during the lifetime of this object go
// through the layer. The layer stays loaded until the process ends.
#pragma once

#include <string>

#include "tests/vulkan_faults/faults.h"

namespace echolux::test {

class VulkanFaultLayer {
  public:
    // Makes all new Vulkan instances of this process load the layer, and overrides VK_INSTANCE_LAYERS. Throws
    // std::runtime_error if the layer is missing.
    VulkanFaultLayer();
    ~VulkanFaultLayer();
    VulkanFaultLayer(const VulkanFaultLayer&) = delete;
    VulkanFaultLayer& operator=(const VulkanFaultLayer&) = delete;

    void plan(const VulkanFaultPlan& plan) { plan_(&plan); }

    // Returns the counts since the last plan. Throws std::runtime_error if no instance was created through the layer,
    // because the counts would then prove nothing.
    VulkanFaultsSeen seen() const;

  private:
    std::string folder_;
    void (*plan_)(const VulkanFaultPlan*) = nullptr;
    void (*read_)(VulkanFaultsSeen*) = nullptr;
};

}  // namespace echolux::test
