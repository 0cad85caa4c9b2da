// The test's interface to the layer that counts copies to the host. Devices created during the lifetime of this object
// go through the layer. The layer stays loaded until the process ends, so that results do not depend on earlier tests.
#pragma once

#include <string>

#include "tests/vulkan_copies/counts.h"

namespace echolux::test {

class VulkanCopyLayer {
  public:
    // Makes all new Vulkan instances of this process load the layer, and overrides VK_INSTANCE_LAYERS. Throws
    // std::runtime_error if the layer is missing.
    VulkanCopyLayer();
    ~VulkanCopyLayer();
    VulkanCopyLayer(const VulkanCopyLayer&) = delete;
    VulkanCopyLayer& operator=(const VulkanCopyLayer&) = delete;

    // Returns the counts since construction. Throws std::runtime_error if no instance was created through the layer,
    // because the counts would then prove nothing.
    VulkanCopies counted() const;

  private:
    VulkanCopies in_all() const;

    std::string folder_;
    void (*read_)(VulkanCopies*) = nullptr;
    VulkanCopies before_;
};

}  // namespace echolux::test
