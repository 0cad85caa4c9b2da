// Common code of the test layers for Vulkan: finds the next layer or driver for each instance and device. A layer is
// one library that includes this header once and defines ours().
#pragma once

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>

namespace echolux::test::layer {

// Returns the layer's replacement for the function of that name, or null if the layer does not intercept it.
PFN_vkVoidFunction ours(const char* name);

struct Chain {
    std::mutex mutex;
    std::map<void*, PFN_vkGetInstanceProcAddr> instances;
    std::map<void*, PFN_vkGetDeviceProcAddr> devices;
    std::map<void*, VkInstance> instance_of;
    std::map<void*, VkDevice> device_of;
    std::int64_t instances_made = 0;
};

inline Chain& chain() {
    static Chain one;
    return one;
}

// Dispatchable objects begin with a pointer shared by all objects of the same device or instance.
template <class Handle>
void* key(Handle handle) {
    void* found = nullptr;
    std::memcpy(&found, static_cast<const void*>(handle), sizeof(found));
    return found;
}

// Returns the function of that name from the next layer or the driver.
template <class Function, class Handle>
Function next(Handle handle, const char* name) {
    Chain& c = chain();
    const std::scoped_lock lock(c.mutex);
    if (const auto device = c.devices.find(key(handle)); device != c.devices.end()) {
        return reinterpret_cast<Function>(device->second(c.device_of.at(key(handle)), name));
    }
    return reinterpret_cast<Function>(c.instances.at(key(handle))(c.instance_of.at(key(handle)), name));
}

#define NEXT(handle, function) layer::next<PFN_##function>(handle, #function)

template <class Link, class Info>
Link* link_of(const Info* info, VkStructureType type) {
    auto* one = const_cast<Link*>(static_cast<const Link*>(info->pNext));
    while (one != nullptr && (one->sType != type || one->function != VK_LAYER_LINK_INFO)) {
        one = const_cast<Link*>(static_cast<const Link*>(one->pNext));
    }
    return one;
}

inline VKAPI_ATTR VkResult VKAPI_CALL CreateInstance(const VkInstanceCreateInfo* info,
                                                     const VkAllocationCallbacks* callbacks, VkInstance* instance) {
    auto* link = link_of<VkLayerInstanceCreateInfo>(info, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
    if (link == nullptr) return VK_ERROR_INITIALIZATION_FAILED;
    const PFN_vkGetInstanceProcAddr next_address = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const auto create = reinterpret_cast<PFN_vkCreateInstance>(next_address(nullptr, "vkCreateInstance"));
    const VkResult result = create(info, callbacks, instance);
    if (result != VK_SUCCESS) return result;
    const std::scoped_lock lock(chain().mutex);
    chain().instances[key(*instance)] = next_address;
    chain().instance_of[key(*instance)] = *instance;
    ++chain().instances_made;
    return result;
}

inline VKAPI_ATTR VkResult VKAPI_CALL CreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                                   const VkAllocationCallbacks* callbacks, VkDevice* device) {
    auto* link = link_of<VkLayerDeviceCreateInfo>(info, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
    if (link == nullptr) return VK_ERROR_INITIALIZATION_FAILED;
    const PFN_vkGetInstanceProcAddr instance_address = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    const PFN_vkGetDeviceProcAddr device_address = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const auto create = reinterpret_cast<PFN_vkCreateDevice>(instance_address(nullptr, "vkCreateDevice"));
    const VkResult result = create(physical, info, callbacks, device);
    if (result != VK_SUCCESS) return result;
    const std::scoped_lock lock(chain().mutex);
    chain().devices[key(*device)] = device_address;
    chain().device_of[key(*device)] = *device;
    return result;
}

inline VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetDeviceProcAddr(VkDevice device, const char* name) {
    const auto found = next<PFN_vkVoidFunction>(device, name);
    const PFN_vkVoidFunction instead = found == nullptr ? nullptr : ours(name);
    return instead == nullptr ? found : instead;
}

inline VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetInstanceProcAddr(VkInstance instance, const char* name) {
    if (const PFN_vkVoidFunction instead = ours(name)) return instead;
    if (instance == nullptr) return nullptr;
    return next<PFN_vkVoidFunction>(instance, name);
}

inline VkResult negotiate(VkNegotiateLayerInterface* face) {
    face->loaderLayerInterfaceVersion = 2;
    face->pfnGetInstanceProcAddr = GetInstanceProcAddr;
    face->pfnGetDeviceProcAddr = GetDeviceProcAddr;
    face->pfnGetPhysicalDeviceProcAddr = nullptr;
    return VK_SUCCESS;
}

}  // namespace echolux::test::layer
