// A test's side of the layer that counts copies to the host: devices that are made while this lives go through it.
#pragma once

#include <string>

#include "tests/vulkan_copies/counts.h"

namespace echolux::test {

class VulkanCopyLayer {
  public:
    // From now on Vulkan instances of this process load the layer, with those that the environment already asks for.
    VulkanCopyLayer();
    ~VulkanCopyLayer();
    VulkanCopyLayer(const VulkanCopyLayer&) = delete;
    VulkanCopyLayer& operator=(const VulkanCopyLayer&) = delete;

    // Throws std::runtime_error when no instance has loaded the layer: then nothing was proven.
    VulkanCopies counted() const;

  private:
    std::string folder_;
};

}  // namespace echolux::test
