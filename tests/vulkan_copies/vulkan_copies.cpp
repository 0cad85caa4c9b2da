#include "tests/vulkan_copies/vulkan_copies.h"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

namespace echolux::test {
namespace {

constexpr const char* file = "libecholux_vulkan_copies.so";

std::string folder_of_the_layer() {
    const char* carried = std::getenv("ECHOLUX_VULKAN_COPIES");  // set in a package
    return carried != nullptr ? carried : ECHOLUX_VULKAN_COPIES;
}

}  // namespace

VulkanCopyLayer::VulkanCopyLayer() : folder_(folder_of_the_layer()) {
    const std::string path = folder_ + "/" + file;  // the loader opens the same path and gets the same library
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_NODELETE);
    if (library == nullptr) throw std::runtime_error("the layer that counts copies is missing: " + path);
    read_ = reinterpret_cast<void (*)(VulkanCopies*)>(dlsym(library, "echolux_vulkan_copies"));
    dlclose(library);
    if (read_ == nullptr) throw std::runtime_error("there is something else where the layer should be: " + path);
    before_ = in_all();
    setenv("VK_ADD_LAYER_PATH", folder_.c_str(), 1);
    setenv("VK_INSTANCE_LAYERS", "VK_LAYER_ECHOLUX_copies", 1);
}

VulkanCopyLayer::~VulkanCopyLayer() {
    unsetenv("VK_ADD_LAYER_PATH");
    unsetenv("VK_INSTANCE_LAYERS");
}

VulkanCopies VulkanCopyLayer::in_all() const {
    VulkanCopies copies;
    read_(&copies);
    return copies;
}

VulkanCopies VulkanCopyLayer::counted() const {
    const VulkanCopies now = in_all();
    if (now.instances == before_.instances) {
        throw std::runtime_error("no Vulkan instance has been made through the layer in " + folder_);
    }
    return {now.copies - before_.copies, now.bytes - before_.bytes, now.shader_targets - before_.shader_targets,
            now.instances - before_.instances};
}

}  // namespace echolux::test
