// A test's side of the layer that counts copies to the host: devices that are made while this lives go through it. The
// layer stays loaded to the end of the process, so that what one test finds does not depend on those before it.
#pragma once

#include <string>

#include "tests/vulkan_copies/counts.h"

namespace echolux::test {

class VulkanCopyLayer {
  public:
    // From now on Vulkan instances of this process load the layer; what VK_INSTANCE_LAYERS asked for is set aside.
    // Throws std::runtime_error where the layer is missing.
    VulkanCopyLayer();
    ~VulkanCopyLayer();
    VulkanCopyLayer(const VulkanCopyLayer&) = delete;
    VulkanCopyLayer& operator=(const VulkanCopyLayer&) = delete;

    // Since this was made. Throws std::runtime_error when no instance has been made through the layer: then nothing
    // was proven.
    VulkanCopies counted() const;

  private:
    VulkanCopies in_all() const;

    std::string folder_;
    void (*read_)(VulkanCopies*) = nullptr;
    VulkanCopies before_;
};

}  // namespace echolux::test
