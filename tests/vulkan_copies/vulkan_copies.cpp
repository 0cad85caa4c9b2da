#include "tests/vulkan_copies/vulkan_copies.h"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

namespace echolux::test {
namespace {

constexpr const char* file = "libecholux_vulkan_copies.so";

std::string folder_of_the_layer() {
    const char* carried = std::getenv("ECHOLUX_VULKAN_COPIES");  // in a package
    return carried != nullptr ? carried : ECHOLUX_VULKAN_COPIES;
}

}  // namespace

VulkanCopyLayer::VulkanCopyLayer() : folder_(folder_of_the_layer()) {
    setenv("VK_ADD_LAYER_PATH", folder_.c_str(), 1);
    setenv("VK_INSTANCE_LAYERS", "VK_LAYER_ECHOLUX_copies", 1);
}

VulkanCopyLayer::~VulkanCopyLayer() {
    unsetenv("VK_ADD_LAYER_PATH");
    unsetenv("VK_INSTANCE_LAYERS");
}

VulkanCopies VulkanCopyLayer::counted() const {
    const std::string path = folder_ + "/" + file;
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);  // the one that the loader opened, or none
    if (library == nullptr) throw std::runtime_error("the Vulkan loader has not loaded " + path);
    const auto read = reinterpret_cast<void (*)(VulkanCopies*)>(dlsym(library, "echolux_vulkan_copies"));
    VulkanCopies copies;
    read(&copies);
    dlclose(library);
    return copies;
}

}  // namespace echolux::test
