#include "tests/vulkan_faults/vulkan_faults.h"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

namespace echolux::test {

VulkanFaultLayer::VulkanFaultLayer() : folder_(ECHOLUX_VULKAN_FAULTS) {
    const std::string path = folder_ + "/libecholux_vulkan_faults.so";  // the loader opens the same path
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_NODELETE);
    if (library == nullptr) throw std::runtime_error("the layer that makes calls fail is missing: " + path);
    plan_ = reinterpret_cast<void (*)(const VulkanFaultPlan*)>(dlsym(library, "echolux_vulkan_faults_plan"));
    read_ = reinterpret_cast<void (*)(VulkanFaultsSeen*)>(dlsym(library, "echolux_vulkan_faults_seen"));
    dlclose(library);
    if (plan_ == nullptr || read_ == nullptr)
        throw std::runtime_error("something else is where the layer should be: " + path);
    setenv("VK_ADD_LAYER_PATH", folder_.c_str(), 1);
    setenv("VK_INSTANCE_LAYERS", "VK_LAYER_ECHOLUX_faults", 1);
}

VulkanFaultLayer::~VulkanFaultLayer() {
    plan({});
    unsetenv("VK_ADD_LAYER_PATH");
    unsetenv("VK_INSTANCE_LAYERS");
}

VulkanFaultsSeen VulkanFaultLayer::seen() const {
    VulkanFaultsSeen seen;
    read_(&seen);
    if (seen.instances == 0)
        throw std::runtime_error("no Vulkan instance has been made through the layer in " + folder_);
    return seen;
}

}  // namespace echolux::test
